"""What every client shares: connections, metadata, routing, retries. Not public."""
