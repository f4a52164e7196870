"""nginx, with the configuration of examples/production, where the machine has it."""

import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from strongroom.testing.server import free_port

PRODUCTION = Path(__file__).parents[2] / "examples" / "production"
START_SECONDS = 60


@dataclass(frozen=True)
class Nginx:
    """A folder with a configuration for unprivileged ports, and the certificate."""

    command: Sequence[str]
    folder: Path
    port: int

    def context(self) -> ssl.SSLContext:
        """Return the trusted certificate for clients."""
        context = ssl.create_default_context(cafile=str(self.folder / "tls" / "fullchain.pem"))
        context.check_hostname = False
        return context

    def said_by_check(self) -> "subprocess.CompletedProcess[str]":
        """Let nginx read the configuration."""
        return subprocess.run([*self.command, "-t"], capture_output=True, text=True, check=False)

    def access_log(self) -> str:
        """Return the access log."""
        return (self.folder / "access.log").read_text()

    def upstream_log(self) -> str:
        """Return the log of failed upstream requests."""
        return (self.folder / "upstream.log").read_text()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run it in the foreground until the block ends."""
        process = subprocess.Popen([*self.command, "-g", "daemon off;"], stderr=subprocess.PIPE)
        try:
            self._wait(process)
            yield
        finally:
            process.terminate()
            process.communicate(timeout=START_SECONDS)

    def _wait(self, process: "subprocess.Popen[bytes]") -> None:
        deadline = time.monotonic() + START_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                time.sleep(0.02)
            else:
                return
        raise AssertionError((self.folder / "start.log").read_text())


def nginx_before(
    folder: Path, servers: Sequence[int], files: Path | None = None, source: Path = PRODUCTION
) -> Nginx:
    """Return nginx before servers on these ports; skips the test where there is no nginx.

    Args:
        folder: for what nginx needs itself.
        servers: the ports of two servers.
        files: the folder of their files.
        source: the folder of the configuration.
    """
    binary = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if binary is None:
        pytest.skip("nginx is not on this machine")
    port = free_port()
    _write_certificate(folder / "tls")
    replaced = {
        "listen 80;": f"listen 127.0.0.1:{free_port()};",
        "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
        "/etc/ssl/strongroom/": f"{folder}/tls/",
        "/srv/strongroom/files/": f"{files or folder / 'files'}/",
        "/var/log/nginx/": f"{folder}/",
        "/run/nginx.pid": f"{folder}/nginx.pid",
        "worker_processes auto;": f"worker_processes 1;\nuser root;\nerror_log {folder}/start.log;",
    }
    text = (source / "nginx.conf").read_text()
    for old, new in replaced.items():
        assert old in text, old
        text = text.replace(old, new)
    (folder / "nginx.conf").write_text(text)
    upstream = (source / "strongroom-upstream.conf").read_text()
    for old_port, new_port in zip((8001, 8002), servers, strict=True):
        upstream = upstream.replace(f"127.0.0.1:{old_port}", f"127.0.0.1:{new_port}")
    (folder / "strongroom-upstream.conf").write_text(upstream)
    command = [binary, "-e", str(folder / "start.log"), "-c", str(folder / "nginx.conf")]
    return Nginx(command, folder, port)


def _write_certificate(folder: Path) -> None:
    folder.mkdir()
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "files.example.com")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "fullchain.pem").write_bytes(certificate.public_bytes(pem))
    (folder / "privkey.pem").write_bytes(private)
