"""The parts of Apache's tool for consumer groups."""
