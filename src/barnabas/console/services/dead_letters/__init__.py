"""Dead letters: their reasons, and sending them back exactly once."""
