"""The tools of Apache Kafka with their own flags and output, for existing scripts."""
