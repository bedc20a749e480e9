"""The clients: producer, consumers and simple consumer, over the shared package `core`."""
