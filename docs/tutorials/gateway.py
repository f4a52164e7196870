"""An SMS gateway that accepts one message, prints its recipient, and exits."""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer


class Gateway(BaseHTTPRequestHandler):
    """Accepts any POST request."""

    def do_POST(self) -> None:
        """Accept a message."""
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(202)
        self.end_headers()
        print(f"A message to {message['to']}", flush=True)  # noqa: T201  the output is the purpose

    def log_message(self, *_: object) -> None:
        """Suppress the access log."""


HTTPServer(("127.0.0.1", 8025), Gateway).handle_request()
