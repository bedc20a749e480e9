"""The cluster's brain: pure decisions in `machines`, one event loop around them.

`controller` is the object a broker runs; it stands for election (`election`), and while it reigns
the work is that of `active`. `topic_admin` and `registration` write to the tree what every broker
may write, controller or not.
"""
