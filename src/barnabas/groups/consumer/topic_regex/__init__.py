"""Subscription expressions (KIP-848): RE2's syntax, matched against whole topic names."""

from barnabas.groups.consumer.topic_regex.expression import TopicRegex, compile_topic_regex

__all__ = ["TopicRegex", "compile_topic_regex"]
