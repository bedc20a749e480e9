"""The `doctor` command: checks of addresses and of the cluster."""
