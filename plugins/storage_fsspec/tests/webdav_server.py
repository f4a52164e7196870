"""A WebDAV server for a folder, in a process of its own: ``webdav_server.py FOLDER PORT``."""

import sys

from cheroot.wsgi import Server
from wsgidav.wsgidav_app import WsgiDAVApp

folder, port = sys.argv[1:]
application = WsgiDAVApp(
    {
        "provider_mapping": {"/": folder},
        "simple_dc": {"user_mapping": {"*": True}},
        "verbose": 0,
        "logging": {"enable": False},
        "lock_storage": False,
        "property_manager": False,
    }
)
Server(("127.0.0.1", int(port)), application, numthreads=20).start()
