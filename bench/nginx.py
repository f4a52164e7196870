"""The limit of downloads: nginx, which sends files by sendfile and asks nobody."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench.servers import HOST, Server, free_port, running

NAME: Final = "nginx"

# Debian keeps it where only root's PATH leads.
_PROGRAM: Final = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")

_CONFIG: Final = """
{user}
daemon off;
worker_processes 2;
pid {folder}/nginx.pid;
error_log stderr error;
events {{ worker_connections 512; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000;
    client_body_temp_path {folder}/nginx-body;
    proxy_temp_path {folder}/nginx-proxy;
    fastcgi_temp_path {folder}/nginx-fastcgi;
    uwsgi_temp_path {folder}/nginx-uwsgi;
    scgi_temp_path {folder}/nginx-scgi;
    server {{
        listen {host}:{port};
        root {root};
    }}
}}
"""


def is_installed() -> bool:
    """Return whether there is an nginx to take turns with."""
    return _PROGRAM is not None


@contextmanager
def nginx(folder: Path, root: Path) -> Iterator[Server]:
    """Serve the files of ``root`` by nginx, until the block ends."""
    port = free_port()
    config = folder / "nginx.conf"
    # The workers of a master that is root would be somebody else, whom the folder is closed to.
    user = "user root;" if os.geteuid() == 0 else ""
    config.write_text(_CONFIG.format(user=user, folder=folder, host=HOST, port=port, root=root))
    with running([_PROGRAM or "nginx", "-c", str(config)], port, config) as server:
        yield server
