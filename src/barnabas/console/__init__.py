"""The web console: a JSON API on a Kafka cluster, and pages that use it."""
