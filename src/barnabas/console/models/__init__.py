"""Value types of the JSON API, one module per subject; services return them."""
