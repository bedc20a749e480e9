"""Communication between the brokers of a cluster."""
