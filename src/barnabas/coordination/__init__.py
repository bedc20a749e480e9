"""Types that the group and transaction coordinators share: outcomes and append errors.

Pure. `barnabas.groups` and `barnabas.transactions` return `CoordinatorOutcome` values;
`barnabas.broker.coordinators.shard_runtime` executes them.
"""
