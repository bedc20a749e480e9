"""The cluster controller: pure decisions in `machines`, one event loop around them.

Every broker runs a `controller.Controller`. It takes part in controller elections (`election`);
while it is the active controller, the classes in `active` do the work. `topic_admin` and
`registration` hold the writes to the metadata tree that every broker may make.
"""
