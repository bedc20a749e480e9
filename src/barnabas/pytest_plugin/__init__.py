"""pytest_plugin."""
