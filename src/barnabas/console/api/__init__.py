"""The JSON API below /api/v1: one router per subject."""
