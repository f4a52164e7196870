"""A server would start with every configuration of the documentation."""

import os
import re
from pathlib import Path
from textwrap import dedent

import pytest
from joserfc.jwk import ECKey
from tests.support.commands import run_command
from tests.support.distributions import register

from strongroom_simulators.alipay import KeyPair

ROOT = Path(__file__).parents[2]
EXAMPLES = {path.parents[2].name: path for path in ROOT.glob("examples/*/src/*/plugin.py")}
SHOWN = (
    "README.md",
    "*/*/README.md",
    "docs/guides/*.md",
    "docs/guides/providers/*.md",
    "docs/zh/guides/providers/*.md",
    "docs/operate/*.md",
    "docs/tutorials/*.md",
)
PAGES = sorted(page for pattern in SHOWN for page in ROOT.glob(pattern))
PROJECTS = ROOT.glob("plugins/*/pyproject.toml")
# A library for plugins has no entry point.
SHIPPED = sorted(path.parent.name for path in PROJECTS if "strongroom.plugins" in path.read_text())

KEYS = KeyPair()

# A file of a plugin has a note, see docs/generate.py, and is no configuration.
BLOCK = re.compile(r"^(<!-- kit: [^\n]*\n)?( *)```toml\n(.*?)^\2```$", re.MULTILINE | re.DOTALL)
FOUND = [
    (page, number, match)
    for page in PAGES
    for number, match in enumerate(BLOCK.finditer(page.read_text()))
]
CONFIGURATIONS = [
    pytest.param(dedent(match[3]), id=f"{page.relative_to(ROOT).with_suffix('')}-{number}")
    for page, number, match in FOUND
    if not match[1]
]


def completed(text: str) -> str:
    """Return a fragment completed to a whole configuration."""
    if "[plugins]" in text:
        return text
    return f"[plugins]\nenabled = {SHIPPED}\n[login]\nmethods = ['password']\n{text}"


def write_keys(folder: Path) -> None:
    """Write the files with keys that configurations name."""
    folder.mkdir()
    (folder / "app_private_key.pem").write_text(KEYS.private_text())
    (folder / "alipay_public_key.pem").write_text(KEYS.public_text())


def test_none_is_overlooked() -> None:
    shown = "".join(page.read_text() for page in PAGES)
    assert shown.count("```toml") == len(FOUND) > 10


@pytest.mark.parametrize("text", CONFIGURATIONS)
def test_the_server_would_start_with_it(text: str, tmp_path: Path) -> None:
    for name, plugin in EXAMPLES.items():
        register(tmp_path, name, f"{plugin.parent.name}.{plugin.stem}")
    path = tmp_path / "strongroom.toml"
    (tmp_path / "texts").mkdir()
    (tmp_path / "apple.p8").write_bytes(ECKey.generate_key("P-256").as_pem(private=True))
    write_keys(tmp_path / "alipay")
    path.write_text(completed(text).replace("/etc/strongroom", str(tmp_path)))
    sources = [str(plugin.parents[1]) for plugin in EXAMPLES.values()]
    python_path = os.pathsep.join([str(tmp_path), *sources, os.environ.get("PYTHONPATH", "")])
    environment = {"PYTHONPATH": python_path, "STRONGROOM_MAINTENANCE_FILE": str(tmp_path / "file")}
    result = run_command("config", "check", "--offline", "--config", str(path), env=environment)
    assert (result.returncode, result.stdout) == (0, "the configuration is fine\n"), result.stderr
