"""A stream joined with a table: each notification gets the current name and address of its user.

The table is a compacted topic; a null value removes the user.

python examples/streams/notifications.py localhost:9092
"""

import sys
from contextlib import suppress
from dataclasses import dataclass

from barnabas.streams import Runner, Stream, Table, Topology


@dataclass(frozen=True)
class User:
    name: str
    email: str


@dataclass(frozen=True)
class Notification:
    user: str
    text: str


users = Table("users", User)
notifications = Stream("notifications", Notification)
letters = notifications.join(
    users,
    on="user",
    kind="left",
    aliases=("n", "u"),
    columns={"to": "u.email", "text": "concat('Dear ', coalesce(u.name, n.user), ': ', n.text)"},
)
known, unknown = letters.branch("to is not null")
topology = Topology("notifications", known.to("letters"), unknown.to("letters-unknown"))

if __name__ == "__main__":
    print(topology.explain())
    address = sys.argv[1] if len(sys.argv) > 1 else "localhost:9092"
    with suppress(KeyboardInterrupt):  # Ctrl-C; the checkpoint knows how far it came
        Runner(topology, bootstrap_servers=address, checkpoint="/tmp/letters").start().wait()
