"""The reigning controller: what it holds (`reign`, `context`) and its parts, one per concern.

Nothing here outlives a reign. `controller.controller` creates an `ActiveController` when an
election is won and drops it when the reign ends.
"""
