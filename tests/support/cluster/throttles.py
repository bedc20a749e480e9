"""Throttles on the replication of a cluster, set and lifted."""

from contextlib import contextmanager

from barnabas.admin.config_types import ConfigResource

SIDES = ("leader", "follower")


def throttled_replicas(*sides):
    """Settings for a new topic: all of its replicas are throttled on these sides."""
    return {f"{side}.replication.throttled.replicas": "*" for side in sides or SIDES}


def set_rate(cluster, bytes_per_second):
    """On each running broker itself, so that it is in force when this returns; None lifts it."""
    value = None if bytes_per_second is None else str(bytes_per_second)
    settings = {f"{side}.replication.throttled.rate": value for side in SIDES}
    running = [number for number, broker in cluster.brokers.items() if broker.running]
    changes = {ConfigResource.broker(number): settings for number in running}
    cluster.admin.alter_configs(changes, timeout=30).check()


@contextmanager
def throttle(cluster, bytes_per_second):
    """For the time of a block; all brokers run when it ends."""
    set_rate(cluster, bytes_per_second)
    try:
        yield
    finally:
        set_rate(cluster, None)
