"""The `barnabas` command: one module per command, imported when the command is called."""
