"""Apache's tools by their own flags, for the scripts people already have."""
