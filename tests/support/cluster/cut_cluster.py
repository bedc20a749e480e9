"""A cluster whose brokers reach each other and ZooKeeper through links that can be cut."""

from support.network.tcp_proxy import TcpProxy

from barnabas.runtime.child_process import free_port
from barnabas.testing.cluster import Cluster


class CutCluster(Cluster):
    """`peers[n]` is the way of the other brokers to broker n, `keepers[n]` its way to ZooKeeper."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.peers, self.keepers = {}, {}

    def make_broker(self, number):
        broker = super().make_broker(number)
        internal = free_port()
        peers = self.peers[number] = TcpProxy(internal)
        keeper = self.keepers[number] = TcpProxy(self.zookeeper.port)
        client = f"PLAINTEXT://127.0.0.1:{broker.port}"
        broker.settings |= {
            "listeners": f"{client},INTERNAL://127.0.0.1:{internal}",
            "advertised.listeners": f"{client},INTERNAL://127.0.0.1:{peers.port}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,INTERNAL:PLAINTEXT",
            "inter.broker.listener.name": "INTERNAL",
            "zookeeper.connect": f"127.0.0.1:{keeper.port}",
        }
        return broker

    def close(self):
        super().close()
        for proxy in (*self.peers.values(), *self.keepers.values()):
            proxy.close()
