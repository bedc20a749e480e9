"""Security of the broker: authentication, authorization, quotas and the audit log.

`authentication` precedes the dispatcher of SASL listeners, `authorization` precedes the handlers of
a broker with an authorizer, and `metering` those that quotas limit. `acl_store`, `client_entities`
and `delegation_tokens` read their data from the metadata tree.
"""
