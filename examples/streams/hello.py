"""Stateless: "zhangsan" becomes "Hello, zhangsan". Run it with a broker's address:

python examples/streams/hello.py localhost:9092
"""

import sys

from barnabas.streams import Runner, Stream, Topology

names = Stream("names", value_format="string")
greetings = names.select(greeting="concat('Hello, ', value)")
topology = Topology("hello", greetings.to("greetings", value_format="string"))

if __name__ == "__main__":
    print(topology.explain())
    Runner(topology, bootstrap_servers=sys.argv[1], checkpoint="/tmp/hello").start().wait()
