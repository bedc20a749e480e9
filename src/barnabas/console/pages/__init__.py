"""The pages, one module per subject; they use only the JSON API."""
