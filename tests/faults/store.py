"""An S3 server on an address; ends when its process is killed."""

import sys
import threading

from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address=sys.argv[1], port=int(sys.argv[2]), verbose=False)
server.start()
threading.Event().wait()
