"""The `barnabas` command: one module per noun, loaded when it is called."""
