"""What Apache's console consumer prints."""
