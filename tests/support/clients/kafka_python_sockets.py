"""Closes the sockets of kafka-python whose connection failed.

kafka-python 3.0 raises without closing them. The garbage collector finds them during a later test,
which fails for the warning: "unclosed <socket.socket … laddr=('0.0.0.0', …)>".
"""

from kafka.net.inet import KafkaNetSocket

_sock_connect = KafkaNetSocket.sock_connect


async def _closing_sock_connect(self, net, sock, *arguments, **options):
    try:
        return await _sock_connect(self, net, sock, *arguments, **options)
    except BaseException:
        sock.close()
        raise


def close_failed_sockets():
    """Changes kafka-python for the whole process; may be called more than once."""
    KafkaNetSocket.sock_connect = _closing_sock_connect
