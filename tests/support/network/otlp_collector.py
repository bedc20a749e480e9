"""An HTTP server that keeps the bodies which OTLP exporters post to it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from barnabas.records.compression import Codec, decompress

_MAX_BODY_BYTES = 10**7


class OtlpCollector(ThreadingHTTPServer):
    """Responds to every POST with 200; `bodies` has the uncompressed bodies in order of arrival."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[bytes] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: OtlpCollector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = bytes(decompress(Codec.GZIP, memoryview(body), _MAX_BODY_BYTES))
        self.server.bodies.append(body)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Writes no line per request to stderr."""


@contextmanager
def otlp_collector() -> Iterator[OtlpCollector]:
    """Runs a collector on a free port until the block ends."""
    server = OtlpCollector()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
