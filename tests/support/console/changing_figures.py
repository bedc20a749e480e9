"""`barnabas` whose console shows other figures of a reassignment and the cluster after each read.

A test can wait for a refresh of the page without a cluster in which a replica is copied slowly.
"""

import itertools

from barnabas.cli.main import main
from barnabas.console.models.cluster import Problem, ReassignmentItem
from barnabas.console.services.cluster import ClusterService
from barnabas.console.services.overview import OverviewService

READS_WITHOUT_MOVE = 5
"""Reads after a cancellation that find no reassignment: the next test finds one again."""

reads = itertools.count(1)
without_move = []
describe_cluster = OverviewService.describe


async def reassignments(_service):
    copied = next(reads) % 100 / 100
    move = ReassignmentItem(
        topic="moving", partition=0, replicas=[1, 2], adding=[3], removing=[2], copied=copied
    )
    if without_move:
        return without_move.pop()
    return [move]


async def reassign(_service, body):
    without_move.extend([[]] * READS_WITHOUT_MOVE)


async def describe(service):
    found = await describe_cluster(service)
    problem = Problem(severity="warning", text="moving-0 is moved", page="/topics/moving")
    return found.model_copy(update={"topics": 1000 + next(reads), "problems": [problem]})


ClusterService.reassignments = reassignments
ClusterService.reassign = reassign
OverviewService.describe = describe
raise SystemExit(main())
