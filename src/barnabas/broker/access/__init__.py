"""Who may connect, who may do what, and how much of it: the broker's side of security.

`authentication` stands before the dispatcher of SASL listeners, `guards` before the handlers of a
broker with an authorizer, `metering` before those that quotas limit. What they decide by lies in
the metadata tree: `acl_store`, `client_entities`.
"""
