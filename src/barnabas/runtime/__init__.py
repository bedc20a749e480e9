"""What a running process needs under everything else: clock, logging, service life cycle."""
