"""Access control: ACLs, quotas, SCRAM users, delegation tokens."""
