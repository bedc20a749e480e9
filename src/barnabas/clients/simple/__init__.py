"""simple."""
