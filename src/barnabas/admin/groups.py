"""Groups: list, describe, delete, remove members.

Groups of the KIP-848 protocol are described by ConsumerGroupDescribe, all others by
DescribeGroups. Only the coordinator knows the type of a group, so ConsumerGroupDescribe is sent
first.
"""

from collections.abc import Iterable

from barnabas.admin.fan_out import Outcome, per_broker, per_coordinator
from barnabas.admin.group_types import (
    GroupDescription,
    GroupListing,
    GroupMember,
    GroupState,
    GroupType,
    MemberDescription,
)
from barnabas.admin.results import Results, error_of, raise_error
from barnabas.admin.session import AdminCalls, operations_of
from barnabas.clients.core.client import GROUP
from barnabas.clients.core.cluster_metadata import Node
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, ProtocolError
from barnabas.model.ids import TopicPartition
from barnabas.wire.messages import consumer_group_describe as consumer
from barnabas.wire.messages import describe_groups as classic
from barnabas.wire.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from barnabas.wire.messages.delete_groups import DeleteGroupsRequest
from barnabas.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from barnabas.wire.messages.list_groups import ListGroupsRequest

CONSUMER_PROTOCOL = "consumer"
STATES_FROM, TYPES_FROM = 4, 5
"""First versions of ListGroups that filter by state and by type."""
REMOVAL_FROM = 3
"""First version of LeaveGroup that can name members other than the sender."""
_NOT_A_CONSUMER_GROUP = frozenset({ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION})


class GroupCalls(AdminCalls):
    """Calls on groups."""

    async def list_groups(
        self,
        *,
        states: Iterable[GroupState | str] = (),
        types: Iterable[GroupType | str] = (),
        timeout: float | None = None,
    ) -> list[GroupListing]:
        """Returns the groups of all brokers, sorted by id.

        Args:
            states: return only groups in these states.
            types: return only groups of these types.

        Raises:
            BarnabasError: a broker could not be reached.
        """
        deadline = self._deadline("list groups", timeout)
        request = ListGroupsRequest(
            states_filter=[str(state) for state in states],
            types_filter=[str(kind) for kind in types],
        )

        async def send(broker_id: int) -> list[GroupListing]:
            needed = TYPES_FROM if request.types_filter else STATES_FROM
            if request.types_filter or request.states_filter:
                what = "to choose groups by state or type"
                await self._session.require(ListGroupsRequest, needed, what, broker_id)
            response = await self._session.client.send(broker_id, request)
            raise_error(response)
            return [
                GroupListing(
                    item.group_id,
                    item.protocol_type,
                    GroupState.of(item.group_state),
                    GroupType.of(item.group_type),
                )
                for item in response.groups
            ]

        brokers = await self._session.brokers(deadline)
        by_broker = (await per_broker(self._session, send, brokers, deadline)).check()
        groups = {item.group_id: item for listed in by_broker.values() for item in listed}
        return sorted(groups.values(), key=lambda item: item.group_id)

    async def describe_groups(
        self,
        groups: Iterable[str],
        *,
        include_operations: bool = False,
        timeout: float | None = None,
    ) -> Results[str, GroupDescription]:
        """Describes state, members and assignments; missing groups have GROUP_ID_NOT_FOUND."""
        deadline = self._deadline("describe groups", timeout)

        async def send(node: int, pending: list[str]) -> Outcome[str, GroupDescription]:
            found = await self._describe_consumer(node, pending, include_operations)
            rest = [
                group
                for group in pending
                if isinstance(error := found.get(group), BrokerError)
                and error.code in _NOT_A_CONSUMER_GROUP
            ]
            if rest:
                found.update(await self._describe_classic(node, rest, include_operations))
            return found

        return await per_coordinator(self._session, GROUP, groups, send, deadline)

    async def describe_group(self, group: str, *, timeout: float | None = None) -> GroupDescription:
        """Describes one group; raises GROUP_ID_NOT_FOUND if it does not exist."""
        return (await self.describe_groups([group], timeout=timeout))[group]

    async def delete_groups(
        self, groups: Iterable[str], *, timeout: float | None = None
    ) -> Results[str, None]:
        """Deletes groups with their offsets; a group with members has NON_EMPTY_GROUP."""
        deadline = self._deadline("delete groups", timeout)

        async def send(node: int, pending: list[str]) -> Outcome[str, None]:
            request = DeleteGroupsRequest(groups_names=pending)
            response = await self._session.client.send(node, request)
            return {item.group_id: error_of(item) for item in response.results}

        return await per_coordinator(self._session, GROUP, groups, send, deadline)

    async def remove_group_members(
        self,
        group: str,
        members: Iterable[GroupMember] | None = None,
        *,
        reason: str = "removed by an admin",
        timeout: float | None = None,
    ) -> Results[GroupMember, None]:
        """Removes members from a group (default: all members); the group then rebalances."""
        deadline = self._deadline(f"remove members of group {group!r}", timeout)
        if members is None:
            described = await self.describe_group(group, timeout=timeout)
            members = [_identity(member) for member in described.members]
        chosen = list(members)
        if not chosen:
            return Results({})
        request = LeaveGroupRequest(
            group_id=group,
            members=[
                MemberIdentity(
                    member_id=member.member_id,
                    group_instance_id=member.instance_id,
                    reason=reason,
                )
                for member in chosen
            ],
        )
        response = await self._session.to_coordinator(
            GROUP, group, request, deadline, min_version=REMOVAL_FROM
        )
        return Results(
            {member: error_of(item) for member, item in zip(chosen, response.members, strict=False)}
        )

    # -- private ------------------------------------------------------------------------------

    async def _describe_consumer(
        self, node: int, groups: list[str], operations: bool
    ) -> dict[str, GroupDescription | BarnabasError]:
        request = consumer.ConsumerGroupDescribeRequest(
            group_ids=groups, include_authorized_operations=operations
        )
        try:
            response = await self._session.client.send(node, request)
        except BrokerError as error:
            if error.code is not ErrorCode.UNSUPPORTED_VERSION:
                raise
            return dict.fromkeys(groups, error)
        coordinator = self._session.client.metadata.brokers.get(node)
        return {
            item.group_id: error_of(item) or _consumer_group(item, coordinator)
            for item in response.groups
        }

    async def _describe_classic(
        self, node: int, groups: list[str], operations: bool
    ) -> dict[str, GroupDescription | BarnabasError]:
        request = classic.DescribeGroupsRequest(
            groups=groups, include_authorized_operations=operations
        )
        response = await self._session.client.send(node, request)
        coordinator = self._session.client.metadata.brokers.get(node)
        return {
            item.group_id: error_of(item) or _classic_group(item, coordinator)
            for item in response.groups
        }


def _identity(member: MemberDescription) -> GroupMember:
    """Identifies a static member by its instance id, because its member id changes (KIP-345)."""
    if member.instance_id is not None:
        return GroupMember(instance_id=member.instance_id)
    return GroupMember(member.member_id)


def _consumer_group(item: consumer.DescribedGroup, coordinator: Node | None) -> GroupDescription:
    return GroupDescription(
        group_id=item.group_id,
        type=GroupType.CONSUMER,
        state=GroupState.of(item.group_state),
        protocol_type=CONSUMER_PROTOCOL,
        assignor=item.assignor_name,
        members=tuple(_consumer_member(member) for member in item.members),
        coordinator=coordinator,
        group_epoch=item.group_epoch,
        assignment_epoch=item.assignment_epoch,
        authorized_operations=operations_of(item.authorized_operations),
    )


def _consumer_member(member: consumer.Member) -> MemberDescription:
    return MemberDescription(
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        host=member.client_host,
        assignment=_named(member.assignment),
        target_assignment=_named(member.target_assignment),
        member_epoch=member.member_epoch,
        rack=member.rack_id,
        subscribed_topics=tuple(member.subscribed_topic_names),
        subscribed_pattern=member.subscribed_topic_regex or None,
    )


def _classic_group(
    item: classic.DescribedGroup, coordinator: Node | None
) -> GroupDescription | BrokerError:
    state = GroupState.of(item.group_state)
    if state is GroupState.DEAD:
        # Before version 6 a missing group is described with the state Dead (KIP-1043).
        message = f"group {item.group_id!r} does not exist"
        return BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, message)
    parse = item.protocol_type == CONSUMER_PROTOCOL
    return GroupDescription(
        group_id=item.group_id,
        type=GroupType.CLASSIC,
        state=state,
        protocol_type=item.protocol_type,
        assignor=item.protocol_data,
        members=tuple(_classic_member(member, parse) for member in item.members),
        coordinator=coordinator,
        authorized_operations=operations_of(item.authorized_operations),
    )


def _classic_member(member: classic.DescribedGroupMember, parse: bool) -> MemberDescription:
    return MemberDescription(
        member_id=member.member_id,
        instance_id=member.group_instance_id,
        client_id=member.client_id,
        host=member.client_host,
        assignment=_decoded(member.member_assignment) if parse else (),
    )


def _decoded(assignment: bytes) -> tuple[TopicPartition, ...]:
    """Decodes a consumer assignment; returns no partitions if the bytes are invalid."""
    if len(assignment) < 2:
        return ()
    version = int.from_bytes(assignment[:2], "big", signed=True)
    known = max(0, min(version, ConsumerProtocolAssignment.MAX_VERSION))
    try:
        decoded = ConsumerProtocolAssignment.decode(memoryview(assignment), known, 2)
    except ProtocolError:
        return ()
    return tuple(
        TopicPartition(topic.topic, partition)
        for topic in decoded.assigned_partitions
        for partition in topic.partitions
    )


def _named(assignment: consumer.Assignment | None) -> tuple[TopicPartition, ...]:
    if assignment is None:
        return ()
    return tuple(
        TopicPartition(topic.topic_name, partition)
        for topic in assignment.topic_partitions
        for partition in topic.partitions
    )
