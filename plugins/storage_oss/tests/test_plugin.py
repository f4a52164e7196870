"""The plugin's registrations, and their cost."""

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from strongroom_storage_oss import plugin
from strongroom_storage_oss.backend import OssBackend
from strongroom_storage_oss.options import OssOptions


def test_it_registers_the_backend() -> None:
    assert plugin.register_storage_backends() == [OssBackend]


def test_secrets_are_declared_as_such() -> None:
    secret = {field.name for field in fields(OssOptions) if field.metadata["secret"]}
    assert secret == {"access_key_secret", "security_token"}


def test_each_key_is_documented_in_its_order() -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\| `(\w+)` \|", readme, flags=re.MULTILINE)
    assert documented == [field.name for field in fields(OssOptions)]


@pytest.mark.parametrize("module", ["alibabacloud_oss_v2", "fs", "http.server"])
def test_importing_it_does_not_import(module: str) -> None:
    code = f"import sys, strongroom_storage_oss.plugin; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("prefix", "key_prefix"), [("", ""), ("/", ""), ("files", "files/"), ("/a/b/", "a/b/")]
)
def test_a_prefix_is_a_folder_however_it_is_written(prefix: str, key_prefix: str) -> None:
    options = OssOptions("files", "cn-hangzhou", "id", "secret", prefix=prefix)
    assert options.key_prefix == key_prefix
