"""Identity, roles, request checks, response headers and the audit log."""
