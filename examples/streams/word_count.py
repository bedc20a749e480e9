"""A step with state: counts words in a table. Runs until Ctrl-C:

python examples/streams/word_count.py localhost:9092
"""

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from barnabas.streams import Runner, Stream, Topology


@dataclass(frozen=True)
class Word:
    word: str


def words(line: object) -> Iterator[Word]:
    return (Word(word.lower()) for word in line.value.split())  # type: ignore[attr-defined]


lines = Stream("lines", value_format="string")
counts = lines.flat_map(words, into=Word).group_by("word").count()
topology = Topology("word-count", counts.to("word-counts"), counts.view("word-count.db", "counts"))

if __name__ == "__main__":
    print(topology.explain())
    address = sys.argv[1] if len(sys.argv) > 1 else "localhost:9092"
    with suppress(KeyboardInterrupt):  # Ctrl-C; the checkpoint knows how far it came
        Runner(topology, bootstrap_servers=address, checkpoint="/tmp/word-count").start().wait()
