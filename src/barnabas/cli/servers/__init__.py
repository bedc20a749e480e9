"""Commands that run a server in the foreground."""
