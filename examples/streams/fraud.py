"""Sessions: finds cards with high payments that follow each other within ten minutes.

Each session is written once, when it is closed; payments that arrive more than a minute late are
not counted.

python examples/streams/fraud.py localhost:9092
"""

import sys
from contextlib import suppress
from dataclasses import dataclass

from barnabas.streams import Runner, Stream, Topology, session


@dataclass(frozen=True)
class Payment:
    card: str
    amount: float
    country: str


payments = Stream("payments", Payment)
sessions = (
    payments.group_by("card")
    .windowed(session("10 minutes", grace="1 minute"))
    .emit("final")
    .aggregate(
        payments="count(*)", total="sum(amount)", countries="array_sort(collect_set(country))"
    )
)
suspicious = sessions.filter("payments >= 3 and (total > 1000 or size(countries) > 1)")
topology = Topology("fraud", suspicious.to("suspicious"))

if __name__ == "__main__":
    print(topology.explain())
    address = sys.argv[1] if len(sys.argv) > 1 else "localhost:9092"
    with suppress(KeyboardInterrupt):  # Ctrl-C; the checkpoint knows how far it came
        Runner(topology, bootstrap_servers=address, checkpoint="/tmp/fraud").start().wait()
