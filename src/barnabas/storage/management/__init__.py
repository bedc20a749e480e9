"""The parts of a log manager: directories, the table of logs, checkpoints, periodic work."""
