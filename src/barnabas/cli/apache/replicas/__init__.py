"""Where replicas are and who leads: reassignment, elections."""
