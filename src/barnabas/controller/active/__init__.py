"""The active controller: its state (`epoch_state`, `context`) and one class per concern.

All objects belong to one controller epoch. `controller.controller` creates an `ActiveController`
after a won election and drops it when the epoch ends.
"""
