"""One segment on disk: its file walked, verified and indexed, and segments in their order."""
