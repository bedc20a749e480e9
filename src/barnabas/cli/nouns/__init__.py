"""One module per noun: its verbs, options and output."""
