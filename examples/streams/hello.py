"""A step without state: "zhangsan" becomes "Hello, zhangsan". Runs until Ctrl-C:

python examples/streams/hello.py localhost:9092
"""

import sys
from contextlib import suppress

from barnabas.streams import Runner, Stream, Topology

names = Stream("names", value_format="string")
greetings = names.select(greeting="concat('Hello, ', value)")
topology = Topology("hello", greetings.to("greetings", value_format="string"))

if __name__ == "__main__":
    print(topology.explain())
    address = sys.argv[1] if len(sys.argv) > 1 else "localhost:9092"
    with suppress(KeyboardInterrupt):  # Ctrl-C; the checkpoint knows how far it came
        Runner(topology, bootstrap_servers=address, checkpoint="/tmp/hello").start().wait()
