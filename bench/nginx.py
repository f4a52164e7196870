"""nginx, which sends files by sendfile: the limit of downloads, or a proxy of Strongroom."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench.servers import HOST, Server, running
from strongroom.testing.server import free_port

NAME: Final = "nginx"

# Debian installs it in a folder that is only in root's PATH.
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
    {server}
}}
"""
_FILES: Final = "server {{ listen {host}:{port}; root {root}; }}"
_FRONT: Final = """
    upstream strongroom {{ server {host}:{behind}; keepalive 64; }}
    server {{
        listen {host}:{port};
        location / {{
            proxy_pass http://strongroom;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
        }}
        location /_strongroom{root}/ {{ internal; alias {root}/; etag off; }}
    }}
"""


def is_installed() -> bool:
    """Return whether nginx is installed."""
    return _PROGRAM is not None


@contextmanager
def nginx(folder: Path, root: Path) -> Iterator[Server]:
    """Serve the files of ``root`` by nginx, until the block ends."""
    with _running(folder, _FILES, root=root) as server:
        yield server


@contextmanager
def nginx_before(folder: Path, behind: Server, root: Path) -> Iterator[Server]:
    """Put nginx before a server that points it to files of ``root``, until the block ends."""
    with _running(folder, _FRONT, root=root, behind=behind.port) as server:
        yield server


@contextmanager
def _running(folder: Path, template: str, **values: object) -> Iterator[Server]:
    port = free_port()
    config = folder / "nginx.conf"
    # With a root master, nginx would run its workers as another user, who may not read the folder.
    user = "user root;" if os.geteuid() == 0 else ""
    section = template.format(host=HOST, port=port, **values)
    config.write_text(_CONFIG.format(user=user, folder=folder, server=section))
    with running([_PROGRAM or "nginx", "-c", str(config)], port, config) as server:
        yield server
