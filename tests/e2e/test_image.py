"""The image: built by buildah from a clean Debian root, and served read-only (``make test-image``).

No engine and no registry is needed: mmdebstrap makes the base, and buildah runs each step of the
Dockerfile in a chroot. This takes minutes, so the other tests leave it out; they run the steps that
install packages in a folder (``test_distributions.py``).
"""

import json
import os
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from strongroom.testing.server import free_port
from strongroom.version import __version__
from tests.support.source_tree import ROOT, succeed
from tests.support.waiting import wait_until

BASE, IMAGE = "localhost/strongroom-base:test", "localhost/strongroom:test"
CERTIFICATES = "/etc/ssl/certs"
USER = "10001"
PACKAGES = "python3,python3-venv,ca-certificates"
NEEDED = ("buildah", "mmdebstrap", "unshare")

# An engine mounts the root read-only, and gives each container its own /proc, /dev/shm and /tmp.
SERVE = """\
set -e
mount --bind "$root" "$root"
mount -o remount,ro,bind "$root"
mount --bind "$data" "$root/var/lib/strongroom"
mount -t tmpfs tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
exec chroot --userspec=10001:10001 "$root" /usr/bin/env --chdir="$folder" -i "$@"
"""

pytestmark = [
    pytest.mark.skipif(
        not os.environ.get("STRONGROOM_TEST_IMAGE"), reason="takes minutes: make test-image"
    ),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a file system"),
    pytest.mark.skipif(not all(map(shutil.which, NEEDED)), reason=f"needs {', '.join(NEEDED)}"),
]


def buildah(*arguments: object) -> str:
    return succeed(ROOT, "buildah", *arguments).strip()


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    archive = tmp_path_factory.mktemp("base") / "base.tar"
    succeed(ROOT, "mmdebstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", archive)
    container = buildah("from", "scratch")
    buildah("add", container, archive, "/")
    # uv has its own certificates, unless this names others.
    buildah("config", "--env", f"SSL_CERT_FILE={CERTIFICATES}/ca-certificates.crt", container)
    buildah("commit", "--rm", container, BASE)
    yield BASE
    buildah("rmi", BASE)


@pytest.fixture(scope="module")
def image(base: str) -> Iterator[str]:
    folder = ROOT / "examples/production"
    buildah(
        *("bud", "--isolation", "chroot", "--format", "docker", "--build-arg", f"BASE={base}"),
        *("--volume", f"{CERTIFICATES}:{CERTIFICATES}:ro", "--file", folder / "Dockerfile"),
        *("--ignorefile", folder / "Dockerfile.dockerignore", "--tag", IMAGE, ROOT),
    )
    yield IMAGE
    buildah("rmi", IMAGE)


@pytest.fixture(scope="module")
def config(image: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(buildah("inspect", "--type", "image", image))["Docker"]["config"]
    return found


@pytest.fixture
def root(image: str) -> Iterator[Path]:
    """The root file system of a container."""
    container = buildah("from", image)
    yield Path(buildah("mount", container))
    buildah("rm", container)


def test_the_image_describes_how_to_run_it(config: dict[str, Any]) -> None:
    assert (config["Entrypoint"], config["Cmd"]) == (["strongroom"], ["serve"])
    assert config["User"] == f"{USER}:{USER}"
    assert set(config["ExposedPorts"]) == {"8000/tcp", "18000/tcp"}
    assert config["Healthcheck"]["Test"][0] == "CMD"


def test_the_image_has_the_server_without_tools_and_sources(root: Path) -> None:
    assert not (root / "source").exists()
    assert not (root / "opt/uv").exists()
    packages = [path.name for path in root.glob("opt/strongroom/lib/python3*/site-packages/*.dist-info")]
    assert f"strongroom-{__version__}.dist-info" in packages
    assert f"strongroom_storage_s3-{__version__}.dist-info" in packages
    assert [name for name in packages if name.startswith(("pip-", "pytest-"))] == []


@contextmanager
def serving(
    root: Path, data: Path, folder: str, environment: dict[str, str]
) -> Iterator["subprocess.Popen[str]"]:
    command = ["unshare", "--mount", "sh", "-c", SERVE, "sh"]
    words = [f"{name}={value}" for name, value in environment.items()]
    with subprocess.Popen(
        [*command, *words, "strongroom", "serve"],
        env={**os.environ, "root": str(root), "data": str(data), "folder": folder},
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            yield server
        finally:
            server.terminate()
            server.wait(60)


def test_it_serves_without_rights_on_a_read_only_root(
    root: Path, config: dict[str, Any], tmp_path: Path
) -> None:
    os.chown(tmp_path, int(USER), int(USER))
    port, management = free_port(), free_port()
    environment = {
        **dict(variable.split("=", 1) for variable in config["Env"]),
        "STRONGROOM__SERVER__PORT": str(port),
        "STRONGROOM__MANAGEMENT__PORT": str(management),
    }
    del environment["STRONGROOM_CONFIG"]  # mounted in production
    health = [word.replace("18000", str(management)) for word in config["Healthcheck"]["Test"][1:]]
    with serving(root, tmp_path, config["WorkingDir"], environment) as server:

        def is_healthy() -> bool:
            assert server.poll() is None, server.stderr and server.stderr.read()
            return subprocess.run(health, capture_output=True, check=False).returncode == 0

        wait_until(is_healthy)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz") as answer:
            assert json.load(answer)["status"] == "ready"
        status = Path(f"/proc/{server.pid}/status").read_text()
        assert f"Uid:\t{USER}\t{USER}\t{USER}\t{USER}\n" in status
        assert "CapEff:\t0000000000000000\n" in status
        mounts = Path(f"/proc/{server.pid}/mounts").read_text().splitlines()
        (options,) = (line.split()[3] for line in mounts if line.split()[1] == "/")
        assert options.split(",")[0] == "ro"
    assert server.returncode == 0
