"""The controller's decisions as pure functions: no tree, no socket, no clock, no dice."""
