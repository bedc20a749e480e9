"""What statements have defined: relations and running queries, kept in a compacted topic."""
