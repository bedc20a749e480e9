"""Names and small files of a log directory, and what a crash leaves among them."""
