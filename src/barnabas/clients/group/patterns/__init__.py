"""Ways of consuming that are easy to get wrong by hand."""
