"""The tables of configuration keys: one module per kind of component."""
