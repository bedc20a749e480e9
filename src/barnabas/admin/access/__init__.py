"""Who may do what, and how much of it: ACLs, quotas, SCRAM users."""
