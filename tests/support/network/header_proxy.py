"""A proxy that adds one header to each request, as a proxy that logs users in does."""

import contextlib
import socket
import threading
from urllib.parse import urlsplit


class HeaderProxy:
    """Passes requests on to a server; `user` is the value of the header, None sends none.

    Each connection carries one request, or one websocket.
    """

    def __init__(self, target, header="X-Forwarded-User"):
        parts = urlsplit(target)
        self._target = (parts.hostname, parts.port)
        self._header = header
        self.user = None

    @contextlib.contextmanager
    def served(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
            yield self
            listener.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener):
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with client, contextlib.suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                data = client.recv(65536)
                if not data:
                    return
                head += data
            with socket.create_connection(self._target) as server:
                server.sendall(self._changed(head))
                back = threading.Thread(target=_copy, args=(server, client), daemon=True)
                back.start()
                _copy(client, server)
                back.join()

    def _changed(self, request):
        lines, rest = request.split(b"\r\n\r\n", 1)
        first, *headers = lines.split(b"\r\n")
        kept = [line for line in headers if not line.lower().startswith(b"connection:")]
        upgrade = any(line.lower().startswith(b"upgrade:") for line in headers)
        kept.append(b"Connection: Upgrade" if upgrade else b"Connection: close")
        if self.user is not None:
            kept.append(f"{self._header}: {self.user}".encode())
        return b"\r\n".join([first, *kept]) + b"\r\n\r\n" + rest


def _copy(source, target):
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
