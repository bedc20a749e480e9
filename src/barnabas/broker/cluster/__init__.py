"""Several brokers as one cluster: what a broker says to the others, and how it hears them."""
