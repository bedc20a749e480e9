"""A classic consumer of the simulation: eager rebalances, correct requests, and crashes."""

from support.groups.driver import join_request, subscription

from barnabas.groups.requests import (
    HeartbeatRequest,
    LeaveGroupRequest,
    LeavingMember,
    OffsetCommitRequest,
    OffsetToCommit,
    Protocol,
    SyncGroupRequest,
)
from barnabas.model.error_codes import ErrorCode as E

PARTITIONS = 6
SESSION_MS = 10_000
REBALANCE_MS = 15_000
HEARTBEAT_MS = 3_000
COMMIT_MS = 4_000
REQUEST_TIMEOUT_MS = 6_000
JOIN_TIMEOUT_MS = 20_000
BACK_OFF_MS = 200


class SimulatedMember:
    """`attempt` numbers what the member is doing; replies to anything earlier are ignored."""

    def __init__(self, world, name, *, static):
        self.world = world
        self.name = name
        self.static = static
        self.running = False
        self.attempt = 0
        self._reset()

    @property
    def instance(self):
        return self.name if self.static else None

    @property
    def is_stable(self):
        return self.running and self.assignment is not None

    def _reset(self):
        self.member_id = ""
        self.generation = -1
        self.assignment = None

    # Life

    def start(self):
        if not self.running:
            self.running = True
            self._reset()
            self._join()

    def crash(self):
        self.running = False
        self.attempt += 1
        self._reset()

    def leave(self):
        if self.running and self.member_id and not self.static:
            request = LeaveGroupRequest("g", (LeavingMember(self.member_id),))
            self.world.send(self, request, lambda reply: None)

    def after_heal(self):
        """Restarts the timers, which were lost with the old network."""
        self.attempt += 1
        if not self.running:
            self.start()
        elif self.assignment is None:
            self._join()
        else:
            self._tick(HEARTBEAT_MS, self._heartbeat)
            self._tick(COMMIT_MS, self._commit)

    # Requests

    def _send(self, request, on_reply, timeout_ms, on_timeout):
        """Handles the response, or the timeout if it is earlier."""
        attempt = self.attempt
        open_ = [True]

        def once(action):
            if open_[0] and attempt == self.attempt:
                open_[0] = False
                action()

        self.world.send(self, request, lambda reply: once(lambda: on_reply(reply)))
        self.world.at(timeout_ms, lambda: once(on_timeout))

    def _tick(self, period_ms, action):
        attempt = self.attempt
        jitter = self.world.random.randint(0, 500)
        self.world.at(period_ms + jitter, lambda: attempt == self.attempt and action())

    def _retry(self, *, forget=False):
        """Rejoins a little later, with a new id if the coordinator does not know the old one."""
        self.attempt += 1
        self.assignment = None
        if forget:
            self._reset()
        self._tick(BACK_OFF_MS, self._join)

    def _join(self):
        self.attempt += 1
        self.assignment = None
        request = _join_request(self.member_id, self.instance)
        self._send(request, self._joined, JOIN_TIMEOUT_MS, self._retry)

    def _joined(self, reply):
        match reply.error_code:
            case E.NONE:
                self.member_id = reply.member_id
                self.generation = reply.generation_id
                self._sync(reply)
            case E.MEMBER_ID_REQUIRED:
                self.member_id = reply.member_id
                self._join()
            case E.UNKNOWN_MEMBER_ID | E.FENCED_INSTANCE_ID:
                self._retry(forget=True)
            case _:
                self._retry()

    def _sync(self, joined):
        self.attempt += 1
        assignments = ()
        if joined.leader_id == self.member_id and not joined.skip_assignment:
            assignments = _share_out([member.member_id for member in joined.members])
        request = SyncGroupRequest(
            "g", self.generation, self.member_id, self.instance, assignments=assignments
        )
        self._send(request, self._synced, REQUEST_TIMEOUT_MS * 3, self._retry)

    def _synced(self, reply):
        match reply.error_code:
            case E.NONE:
                self.attempt += 1
                self.assignment = list(reply.assignment)
                self._tick(HEARTBEAT_MS, self._heartbeat)
                self._tick(COMMIT_MS, self._commit)
            case E.UNKNOWN_MEMBER_ID | E.FENCED_INSTANCE_ID | E.ILLEGAL_GENERATION:
                self._retry(forget=reply.error_code is not E.ILLEGAL_GENERATION)
            case _:
                self._retry()

    def _heartbeat(self):
        request = HeartbeatRequest("g", self.generation, self.member_id, self.instance)
        self._send(
            request,
            self._heartbeat_answered,
            REQUEST_TIMEOUT_MS,
            lambda: self._tick(0, self._heartbeat),
        )

    def _heartbeat_answered(self, reply):
        match reply.error_code:
            case E.NONE | E.NOT_COORDINATOR | E.COORDINATOR_NOT_AVAILABLE:
                self._tick(HEARTBEAT_MS, self._heartbeat)
            case E.REBALANCE_IN_PROGRESS:
                self._join()
            case _:
                self._retry(forget=reply.error_code is not E.ILLEGAL_GENERATION)

    def _commit(self):
        self._tick(COMMIT_MS, self._commit)
        if not self.assignment:
            return
        partition = self.world.random.choice(self.assignment)
        offset = self.world.now
        request = OffsetCommitRequest(
            "g",
            (OffsetToCommit("t", partition, offset),),
            self.generation,
            self.member_id,
            self.instance,
        )
        attempt = self.attempt
        self.world.send(self, request, lambda reply: self._committed(attempt, reply, offset))

    def _committed(self, attempt, reply, offset):
        partition, code = reply.partitions[0]
        if code is E.NONE:
            self.world.acked(partition, offset)


def _join_request(member_id, instance):
    """Assignments are bytes, one per partition; subscriptions name the topic."""
    return join_request(
        member_id,
        instance=instance,
        session_timeout_ms=SESSION_MS,
        rebalance_timeout_ms=REBALANCE_MS,
        protocols=(Protocol("range", subscription("t")),),
        can_skip_assignment=True,
    )


def _share_out(member_ids):
    """Every partition to one member, in turn; one byte per partition."""
    shares = {member_id: bytearray() for member_id in member_ids}
    for partition in range(PARTITIONS):
        shares[member_ids[partition % len(member_ids)]].append(partition)
    return tuple((member_id, bytes(share)) for member_id, share in shares.items())
