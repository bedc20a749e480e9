"""Server-side assignors of KIP-848 groups, by the names members ask for them with."""

from barnabas.groups.consumer.assignors.range import assign_range
from barnabas.groups.consumer.assignors.spec import Assignor
from barnabas.groups.consumer.assignors.uniform import assign_uniform

ASSIGNORS: dict[str, Assignor] = {"uniform": assign_uniform, "range": assign_range}
