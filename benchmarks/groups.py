"""The group coordinator under members that speak the protocol by hand."""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

from benchmarks.broker_process import BrokerProcess, broker
from benchmarks.raw_group import ClassicMember, ConsumerMember, Peer
from benchmarks.report import Report

GROUPS, MEMBERS_PER_GROUP = 100, 10
BEAT_S, BEAT_ROUNDS = 3.0, 3
REBALANCE_MEMBERS, REBALANCE_PARTITIONS = 100, 1000
COMMITS, COMMITTERS, COMMITTED_PARTITIONS = 3000, 8, 10
NO_DELAY = ("-X", "group.initial.rebalance.delay.ms=0")


def run(report: Report) -> None:
    with broker(NO_DELAY) as server:
        asyncio.run(_run(report, server))


async def _run(report: Report, server: BrokerProcess) -> None:
    admin = await Peer.connect(server.address)
    await admin.find("any")
    await admin.create("t", REBALANCE_PARTITIONS)
    await _commits(report, server)
    await _rebalance(report, server)
    await _consumer_rebalance(report, server)
    await _heartbeats(report, server)
    report.add("resident at the end", server.resident_mib(), "MiB")
    await admin.close()


# --- heartbeats ---


async def _heartbeats(report: Report, server: BrokerProcess) -> None:
    """A thousand members at the usual interval, then as fast as they can."""
    peers = [await Peer.connect(server.address) for _ in range(GROUPS * MEMBERS_PER_GROUP)]
    members = [
        ClassicMember(peer, f"beat-{index % GROUPS}", "t", MEMBERS_PER_GROUP)
        for index, peer in enumerate(peers)
    ]
    begin = time.perf_counter()
    await asyncio.gather(*(member.rebalance() for member in members))
    await _settle(members)
    report.add("1,000 members in 100 groups settle", time.perf_counter() - begin, "s")
    before, begin = server.cpu_seconds(), time.perf_counter()
    await asyncio.gather(*(_beat(member, index) for index, member in enumerate(members)))
    cores = (server.cpu_seconds() - before) / (time.perf_counter() - begin)
    report.add("1,000 members heartbeat every 3 s", cores * 100, "% of a core", goal="< 100")
    elapsed, cpu = await _timed(server, lambda: _flat_out(members[:50], 100))
    report.add("heartbeats flat out", 50 * 100 / elapsed, "/s")
    report.add("heartbeat, broker CPU", cpu / (50 * 100) * 1e6, "us")
    await asyncio.gather(*(peer.close() for peer in peers))


async def _settle(members: list[ClassicMember]) -> None:
    """Members that joined late made the others join again."""
    while True:
        codes = await asyncio.gather(*(member.heartbeat() for member in members))
        late = [m for m, code in zip(members, codes, strict=True) if code]
        if not late:
            return
        await asyncio.gather(*(member.rebalance() for member in late))


async def _beat(member: ClassicMember, index: int) -> None:
    await asyncio.sleep(BEAT_S * index / (GROUPS * MEMBERS_PER_GROUP))
    for _ in range(BEAT_ROUNDS):
        if await member.heartbeat():
            raise RuntimeError("a rebalance in a settled group")
        await asyncio.sleep(BEAT_S)


async def _flat_out(members: list[ClassicMember], rounds: int) -> None:
    async def beat(member: ClassicMember) -> None:
        for _ in range(rounds):
            await member.heartbeat()

    await asyncio.gather(*(beat(member) for member in members))


# --- rebalances ---


async def _rebalance(report: Report, server: BrokerProcess) -> None:
    peers = [await Peer.connect(server.address) for _ in range(REBALANCE_MEMBERS)]
    members = [ClassicMember(peer, "big", "t", REBALANCE_PARTITIONS) for peer in peers]
    await asyncio.gather(*(member.rebalance() for member in members))
    await _settle(members)

    async def again() -> None:
        await asyncio.gather(*(member.rebalance() for member in members))
        await _settle(members)

    rounds = [await _timed(server, again) for _ in range(5)]
    elapsed = statistics.median(elapsed for elapsed, _ in rounds)
    cpu = statistics.median(cpu for _, cpu in rounds)
    report.add("100 members rebalance 1,000 partitions", elapsed * 1000, "ms", goal="< 2000")
    report.add("the same, broker CPU", cpu * 1000, "ms")
    await asyncio.gather(*(peer.close() for peer in peers))


async def _consumer_rebalance(report: Report, server: BrokerProcess) -> None:
    """KIP-848: all join at once and beat until each has its share."""
    peers = [await Peer.connect(server.address) for _ in range(REBALANCE_MEMBERS)]
    members = [ConsumerMember(p, "new", f"member-{n}", "t") for n, p in enumerate(peers)]
    share = REBALANCE_PARTITIONS // REBALANCE_MEMBERS

    async def converge() -> None:
        while any(member.count != share for member in members):
            await asyncio.gather(*(member.heartbeat() for member in members))

    elapsed, cpu = await _timed(server, converge)
    report.add("KIP-848: 100 join 1,000 partitions", elapsed * 1000, "ms", goal="< 2000")
    report.add("the same, broker CPU", cpu * 1000, "ms")
    await asyncio.gather(*(peer.close() for peer in peers))


# --- commits ---


async def _commits(report: Report, server: BrokerProcess) -> None:
    peers = [await Peer.connect(server.address) for _ in range(COMMITTERS)]
    latencies: list[float] = []
    for number in range(COMMITS):
        begin = time.perf_counter()
        await peers[0].commit("alone", "t", 1, number)
        latencies.append(time.perf_counter() - begin)
    marks = statistics.quantiles(latencies, n=100)
    report.add("commit of one offset p50", marks[49] * 1e6, "us")
    report.add("commit of one offset p99", marks[98] * 1e6, "us")
    for partitions in (1, COMMITTED_PARTITIONS):
        elapsed, cpu = await _timed(server, lambda count=partitions: _commit_all(peers, count))
        report.add(f"commits of {partitions} offsets, 8 clients", COMMITS / elapsed, "/s")
        report.add("the same, broker CPU", cpu / COMMITS * 1e6, "us/commit")
    await asyncio.gather(*(peer.close() for peer in peers))


async def _commit_all(peers: list[Peer], partitions: int) -> None:
    async def commit(index: int, peer: Peer) -> None:
        for number in range(COMMITS // COMMITTERS):
            await peer.commit(f"many-{index}", "t", partitions, number)

    await asyncio.gather(*(commit(index, peer) for index, peer in enumerate(peers)))


async def _timed(server: BrokerProcess, work: Callable[[], Awaitable[None]]) -> tuple[float, float]:
    """Seconds of the clock, and of the broker's processor."""
    before, begin = server.cpu_seconds(), time.perf_counter()
    await work()
    return time.perf_counter() - begin, server.cpu_seconds() - before
