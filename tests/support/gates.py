"""Web servers in front of an application: Apache, nginx and Caddy, where the machine has them.

Their configurations are the files of ``examples/single-sign-on``, which guides show.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final

import pytest

from tests.support.server import is_listening
from tests.support.waiting import wait_until

EXAMPLES: Final = Path(__file__).parents[2] / "examples" / "single-sign-on"
HOST: Final = "localhost"
"""The host of the application; that of the server in tests is ``127.0.0.1``, another site."""

_MODULES: Final = Path("/usr/lib/apache2/modules")
_LOADED: Final = (
    "mpm_event",
    "authn_core",
    "authz_core",
    "authz_user",
    "alias",
    "rewrite",
    "headers",
    "proxy",
    "proxy_http",
    "auth_openidc",
)
_APACHE: Final = """
ServerName localhost
ServerRoot {folder}
DocumentRoot {folder}
PidFile {folder}/apache.pid
ErrorLog {folder}/apache.log
DefaultRuntimeDir {folder}
Mutex file:{folder} default
"""
_NGINX: Final = """
user root;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/nginx-body;
    proxy_temp_path {folder}/nginx-proxy;
    fastcgi_temp_path {folder}/nginx-fastcgi;
    uwsgi_temp_path {folder}/nginx-uwsgi;
    scgi_temp_path {folder}/nginx-scgi;
    server {{
        listen {host}:{port};
        {locations}
    }}
}}
"""


class _Reflector(BaseHTTPRequestHandler):
    """Responds with the path and the headers of the request as JSON."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = json.dumps({"path": self.path, "headers": headers}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@contextmanager
def reflecting() -> Iterator[int]:
    """Run an application that returns its requests, and yield its port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Reflector) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@contextmanager
def apache(folder: Path, port: int, name: str, replaced: Mapping[str, str]) -> Iterator[None]:
    """Run Apache with a file of the examples until the block ends; skip the test without its modules.

    Args:
        replaced: what to replace in the file.
    """
    binary = shutil.which("apache2") or shutil.which("apache2", path="/usr/sbin")
    if binary is None or not (_MODULES / "mod_auth_openidc.so").exists():
        pytest.skip("NOT TESTED: Apache or libapache2-mod-auth-openidc is not installed here")
    modules = "".join(f"LoadModule {each}_module {_MODULES}/mod_{each}.so\n" for each in _LOADED)
    text = _replace(EXAMPLES / name, replaced)
    listen = "" if text.startswith("Listen") else f"Listen 127.0.0.1:{port}\n"
    text = modules + listen + _APACHE.format(folder=folder) + text
    path = folder / "apache.conf"
    path.write_text(text)
    with _running([binary, "-X", "-f", str(path)], port, folder / "apache.log"):
        yield


@contextmanager
def nginx(folder: Path, port: int, replaced: Mapping[str, str]) -> Iterator[None]:
    """Run nginx with the locations of the examples until the block ends."""
    binary = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if binary is None:
        pytest.skip("NOT TESTED: nginx is not installed here")
    locations = _replace(EXAMPLES / "nginx.conf", replaced)
    path = folder / "nginx.conf"
    path.write_text(_NGINX.format(folder=folder, host="127.0.0.1", port=port, locations=locations))
    with _running([binary, "-c", str(path), "-p", str(folder)], port, folder / "nginx.log"):
        yield


@contextmanager
def caddy(folder: Path, port: int, replaced: Mapping[str, str]) -> Iterator[None]:
    """Run Caddy with the file of the examples until the block ends."""
    binary = shutil.which("caddy")
    if binary is None:
        pytest.skip("NOT TESTED: Caddy is not installed here")
    path = folder / "Caddyfile"
    path.write_text("{\n\tadmin off\n}\n" + _replace(EXAMPLES / "Caddyfile", replaced))
    command = [binary, "run", "--config", str(path), "--adapter", "caddyfile"]
    with _running(command, port, folder / "caddy.log", {"HOME": str(folder)}):
        yield


def _replace(path: Path, replaced: Mapping[str, str]) -> str:
    text = path.read_text()
    for old, new in replaced.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


@contextmanager
def _running(
    command: Sequence[str], port: int, log: Path, environment: Mapping[str, str] | None = None
) -> Iterator[None]:
    with (
        (log.parent / "output.log").open("wb") as output,
        subprocess.Popen(
            command, stdout=output, stderr=output, env={**os.environ, **(environment or {})}
        ) as process,
    ):
        try:
            wait_until(lambda: process.poll() is not None or is_listening(port))
            assert process.poll() is None, Path(output.name).read_text()
            yield
        finally:
            process.terminate()
