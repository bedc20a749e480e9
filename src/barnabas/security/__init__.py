"""Authentication exchanges and access decisions as pure state machines.

`sasl_server` is what a listener drives for each connection, `plain` and `scram_*` the mechanisms
for both sides; `acl` and `authorizer` decide who may do what. Nonces, salts and time come from the
caller. No secret is ever put into an exception, a log line or a repr.
"""
