"""What a log knows of its producers: state, snapshots of it, and its replay from the log."""
