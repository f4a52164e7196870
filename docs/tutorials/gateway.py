"""An SMS gateway that takes one message, says whom it is for, and ends."""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer


class Gateway(BaseHTTPRequestHandler):
    """Takes whatever is posted."""

    def do_POST(self) -> None:
        """Take a message."""
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(202)
        self.end_headers()
        print(f"A message to {message['to']}", flush=True)  # noqa: T201  it is its face

    def log_message(self, *_: object) -> None:
        """Say nothing else."""


HTTPServer(("127.0.0.1", 8025), Gateway).handle_request()
