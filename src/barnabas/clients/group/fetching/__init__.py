"""Getting batches from brokers ahead of the application."""
