"""kazoo's values in the tree's words; no server needed."""

import pytest
from kazoo import exceptions as kazoo_errors
from kazoo.protocol.states import EventType, KazooState, ZnodeStat

from barnabas.zk import kazoo_values
from barnabas.zk.tree import (
    BadVersionError,
    CheckOp,
    ConnectionLossError,
    CreateOp,
    DeleteOp,
    MultiError,
    NodeExistsError,
    SessionLostError,
    SessionState,
    SetOp,
    Stat,
    TreeError,
    WatchKind,
)

OPS = [CreateOp("/a", b"1", False, True), SetOp("/b", b"2", 3), DeleteOp("/c", 4), CheckOp("/d", 5)]


def znode_stat():
    return ZnodeStat(
        czxid=1,
        mzxid=2,
        ctime=3,
        mtime=4,
        version=5,
        cversion=6,
        aversion=7,
        ephemeralOwner=8,
        dataLength=9,
        numChildren=10,
        pzxid=11,
    )


def test_operations_go_into_a_transaction_as_they_are():
    class Transaction:
        def __init__(self):
            self.calls = []

        def __getattr__(self, name):
            return lambda *args, **more: self.calls.append((name, args, more))

    transaction = Transaction()
    for op in OPS:
        kazoo_values.add_op(transaction, op)
    assert transaction.calls == [
        ("create", ("/a", b"1", None), {"ephemeral": False, "sequence": True}),
        ("set_data", ("/b", b"2", 3), {}),
        ("delete", ("/c", 4), {}),
        ("check", ("/d", 5), {}),
    ]


def test_results_of_a_multi():
    results = kazoo_values.multi_results(OPS, ["/a0", znode_stat(), True, True])
    stat = Stat(1, 2, 5, 8, 10, 3, 4, pzxid=11, cversion=6, acl_version=7)
    assert results == ["/a0", stat, None, None]


def test_a_rejected_multi_names_the_operation_at_fault():
    rolled_back, never_tried = kazoo_errors.RolledBackError(), kazoo_errors.RuntimeInconsistency()
    with pytest.raises(MultiError) as caught:
        kazoo_values.multi_results(
            OPS, [rolled_back, kazoo_errors.BadVersionError(), never_tried, never_tried]
        )
    assert (caught.value.index, caught.value.operation) == (1, OPS[1])
    assert isinstance(caught.value.cause, BadVersionError)


@pytest.mark.parametrize(
    ("error", "meant"),
    [
        (kazoo_errors.NodeExistsError(), NodeExistsError),
        (kazoo_errors.SessionExpiredError(), SessionLostError),
        (kazoo_errors.ConnectionLoss(), ConnectionLossError),
        (kazoo_errors.OperationTimeoutError(), ConnectionLossError),
    ],
)
def test_errors_of_kazoo_become_those_of_the_tree(error, meant):
    assert type(kazoo_values.tree_error(error, "/a")) is meant


def test_an_error_without_a_counterpart_keeps_its_name():
    found = kazoo_values.tree_error(kazoo_errors.NoAuthError("no"), "/a")
    assert type(found) is TreeError
    assert str(found) == "/a: NoAuthError no"


def test_states_and_events():
    assert kazoo_values.session_state(KazooState.SUSPENDED) is SessionState.SUSPENDED
    assert kazoo_values.watch_kind(EventType.CHILD) is WatchKind.CHILD
    assert kazoo_values.watch_kind(EventType.NONE) is WatchKind.DROPPED
