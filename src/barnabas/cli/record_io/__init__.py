"""Reading records: where from, which, and how they are shown."""
