"""config_keys."""
