"""A small HTTP server on this machine; the test passes the function that handles requests."""

import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextlib.contextmanager
def http_server(answer):
    """Serves until the block ends; yields the base URL.

    `answer(path, body)` returns the status and one of: a dict (sent as JSON), a text (sent as
    HTML), or for a redirect the address.
    """

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self):
            self._send(*answer(self.path, ""))

        def do_POST(self):
            size = int(self.headers["Content-Length"])
            self._send(*answer(self.path, self.rfile.read(size).decode()))

        def _send(self, code, content):
            self.send_response(code)
            if 300 <= code < 400:
                self.send_header("Location", content)
                content = ""
            kind = "application/json" if isinstance(content, dict) else "text/html"
            data = (json.dumps(content) if isinstance(content, dict) else content).encode()
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args):
            pass

    with serving(Pages) as url:
        yield url


@contextlib.contextmanager
def serving(pages):
    """Serves with a request handler until the block ends; yields the base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), pages)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
