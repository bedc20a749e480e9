"""Being a member of a group: the classic protocol and KIP-848, as state machines."""
