"""Metrics of the broker: declarations, collection from the broker's state, text for Prometheus."""
