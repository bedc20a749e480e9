"""Tables of configuration keys, one module per component."""
