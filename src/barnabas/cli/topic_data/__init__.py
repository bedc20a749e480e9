"""Moving a topic's records: copy, dump, restore."""
