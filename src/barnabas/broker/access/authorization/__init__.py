"""One authorization rule per API: the required permissions, and the response without them.

A rule removes from a request the parts that its sender must not use, calls the handler with the
others, and adds errors to the response. So handlers contain no authorization. Names that the sender
must not describe are rejected before their existence is checked. `table` lists all rules; a broker
with an authorizer cannot serve an API without a rule.
"""
