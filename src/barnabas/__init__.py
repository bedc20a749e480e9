"""Barnabas: Kafka's commit log, brokers and clients in Python, wire-compatible with Apache Kafka."""
