"""The controller's decisions as pure functions without IO, clock or random numbers."""
