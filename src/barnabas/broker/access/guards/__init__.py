"""One guard per API: what a request needs, and what is answered without it.

A guard takes from a request what its sender may not touch, lets the handler serve the rest, and
puts the refusals into the response; so handlers know nothing of authorization. Names that the
sender may not describe are refused before anybody looks whether they exist. `table` lists them
all; an API without a guard cannot be served by a broker with an authorizer.
"""
