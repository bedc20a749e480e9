import pytest

from barnabas.admin import ElectionType, Reassignment
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.wire.messages import alter_partition_reassignments as altering
from barnabas.wire.messages import elect_leaders as electing
from barnabas.wire.messages import list_partition_reassignments as listing

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


@pytest.mark.parametrize("partitions", [None, [T0, T1]])
async def test_each_partition_has_a_result_or_the_error_of_its_election(cluster, admin, partitions):
    needless = ErrorCode.ELECTION_NOT_NEEDED
    results = [electing.PartitionResult(0, 0), electing.PartitionResult(1, needless, "as it is")]
    response = electing.ElectLeadersResponse(
        replica_election_results=[electing.ReplicaElectionResult("t", results)]
    )
    cluster.on(electing.ElectLeadersRequest, response)
    elected = await admin.elect_leaders(ElectionType.UNCLEAN, partitions)
    assert elected.ok == {T0: None}
    assert str(elected.errors[T1]) == "ELECTION_NOT_NEEDED: as it is"
    ((_, request),) = cluster.asked(electing.ElectLeadersRequest)
    assert request.election_type == 1
    assert (request.topic_partitions is None) == (partitions is None)


async def test_a_controller_that_moved_is_found_again_for_the_whole_request(cluster, admin):
    def answer(node, request):
        cluster.controller_id = 3
        return electing.ElectLeadersResponse(
            error_code=0 if node == 3 else ErrorCode.NOT_CONTROLLER
        )

    cluster.on(electing.ElectLeadersRequest, answer)
    await admin.elect_leaders(ElectionType.PREFERRED)
    assert [node for node, _ in cluster.asked(electing.ElectLeadersRequest)] == [1, 3]


async def test_moves_and_their_cancellation(cluster, admin):
    responses = [
        altering.ReassignablePartitionResponse(0, 0),
        altering.ReassignablePartitionResponse(1, ErrorCode.NO_REASSIGNMENT_IN_PROGRESS),
    ]
    response = altering.AlterPartitionReassignmentsResponse(
        responses=[altering.ReassignableTopicResponse("t", responses)]
    )
    cluster.on(altering.AlterPartitionReassignmentsRequest, response)
    moved = await admin.alter_partition_reassignments({T0: [2, 3], T1: None})
    assert moved.ok == {T0: None}
    assert moved.errors[T1].code is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
    ((_, request),) = cluster.asked(altering.AlterPartitionReassignmentsRequest)
    assert [item.replicas for item in request.topics[0].partitions] == [[2, 3], None]


async def test_moves_under_way(cluster, admin):
    item = listing.OngoingPartitionReassignment(0, [1, 2, 3], [3], [1])
    response = listing.ListPartitionReassignmentsResponse(
        topics=[listing.OngoingTopicReassignment("t", [item])]
    )
    cluster.on(listing.ListPartitionReassignmentsRequest, response)
    expected = {T0: Reassignment((1, 2, 3), (3,), (1,))}
    assert await admin.list_partition_reassignments() == expected
    assert await admin.list_partition_reassignments([T0]) == expected
    (_, everything), (_, some) = cluster.asked(listing.ListPartitionReassignmentsRequest)
    assert everything.topics is None
    assert some.topics[0].partition_indexes == [0]


async def test_an_error_of_the_whole_request_is_raised(cluster, admin):
    response = listing.ListPartitionReassignmentsResponse(
        error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED, error_message="no"
    )
    cluster.on(listing.ListPartitionReassignmentsRequest, response)
    with pytest.raises(BrokerError, match="CLUSTER_AUTHORIZATION_FAILED: no"):
        await admin.list_partition_reassignments()
