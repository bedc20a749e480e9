"""Components that all clients share: connections, metadata, routing, retries. Not public."""
