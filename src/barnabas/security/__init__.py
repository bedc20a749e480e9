"""Authentication exchanges and access decisions as pure state machines.

A listener drives one `sasl_server.SaslServer` per connection; `plain`, `scram` and `oauthbearer`
implement the mechanisms for both sides. `acl` and `authorizer` decide whether an operation is
allowed. The caller passes nonces, salts and time. No exception, log line or repr contains a secret.
"""
