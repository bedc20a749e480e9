"""The larger verbs on groups: lag, reset, watch."""
