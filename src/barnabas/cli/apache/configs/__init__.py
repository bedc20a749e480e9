"""kafka-configs: topics, brokers, clients, users."""
