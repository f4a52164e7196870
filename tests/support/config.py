"""Configurations for tests: nested tables that are merged and written as TOML."""

import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from strongroom.foundation.config import Settings
from strongroom.testing.server import to_toml
from tests.support.waiting import PATIENCE_SECONDS

Table = dict[str, Any]
"""A table of TOML: values and tables by key."""

FIXED_CAPTCHA: Table = {"captcha": {"provider": "fixed", "answer": "42"}}
SMS_LOGIN: Table = {
    "plugins": {"enabled": ["storage_local", "login_sms"]},
    "login": {"methods": ["password", "sms"]},
}
ONE_WORKER: Table = {"server": {"workers": 1}}

_RATES = [field.name for field in fields(Settings().limits) if "tuple" in str(field.type)]


def lifted(*names: str) -> Table:
    """Return limits that no test reaches, for the rates of these names or for all rates."""
    assert set(names) <= set(_RATES), names
    return {"limits": {name: ["1000000/second"] for name in names or _RATES}}


def merged(*tables: Table) -> Table:
    """Merge tables recursively: the last value wins, and None removes a key."""
    result: Table = {}
    for table in tables:
        for key, value in table.items():
            if isinstance(value, dict):
                result[key] = merged(result.get(key, {}), value)
            elif value is None:
                result.pop(key, None)
            else:
                result[key] = value
    return result


def declared_config(request: pytest.FixtureRequest) -> Table:
    """Return the merged tables of the nearest marker ``config``, of a test, class or module."""
    marker = request.node.get_closest_marker("config")
    return merged(*marker.args) if marker else {}


def base_config(folder: Path, database_url: str) -> Table:
    """Return what every test needs: a data folder, a database, local storage and cheap hashes."""
    return {
        "server": {"data_dir": f"{folder}/data"},
        "database": {"url": database_url},
        "plugins": {"enabled": ["storage_local"]},
        "storages": {"main": {"backend": "local", "root": f"{folder}/files"}},
        "login": {"methods": ["password"]},
        # Stated, so that pages offer SMS although nothing delivers them.
        "messages": {"sms": ["console"]},
        "passwords": {"bcrypt_cost": 4},
        # The default is too short for the start of a worker on a busy machine.
        "advanced": {"picture_seconds": 60},
    }


def main_storage(options: Table) -> tuple[Table, Table]:
    """Return the changes that make this the main storage, with its plugin, in place of the local one."""
    plugin = f"storage_{options['backend']}"
    without = {"storages": {"main": None}}
    return without, {"plugins": {"enabled": [plugin]}, "storages": {"main": options}}


def write_api_config(folder: Path, database_url: str, *changes: Table) -> Path:
    """Write the configuration of an API that runs in the process of the test."""
    in_process: Table = {
        "server": {"public_url": "https://files.example.com"},
        # Requests of many threads wait for each other, and no test here stops its database.
        "database": {"timeout_seconds": PATIENCE_SECONDS},
        "files": {"max_file_bytes": 8_000_000},
        **FIXED_CAPTCHA,
    }
    base = base_config(folder, database_url)
    return write_toml(folder / "strongroom.toml", base, in_process, *changes)


def write_toml(path: Path, *tables: Table) -> Path:
    """Write merged tables to a file."""
    path.write_text(to_toml(merged(*tables)))
    return path


def read_toml(path: Path) -> Table:
    """Return the tables of a file."""
    return tomllib.loads(path.read_text())


def change_config(path: Path, *changes: Table) -> Path:
    """Merge changes into a configuration file."""
    return write_toml(path, read_toml(path), *changes)
