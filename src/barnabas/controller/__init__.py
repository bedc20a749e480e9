"""The cluster's brain: pure decisions in `machines`, one event loop around them.

`controller` is the object a broker runs; `topic_admin` and `registration` write to the tree what
every broker may write, controller or not.
"""
