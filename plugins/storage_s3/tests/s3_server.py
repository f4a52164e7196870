"""An S3 server in a process of its own: prints its port, and ends when its input does."""

import sys

from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)  # noqa: T201  read by the fixture that started it
sys.stdin.read()
