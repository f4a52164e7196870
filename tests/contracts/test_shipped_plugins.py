"""Each shipped plugin has the contract tests that ``strongroom plugins check`` demands."""

import ast
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from strongroom.cli.plugins.check import contract_subjects
from strongroom.cli.plugins.listing import load_plugin
from strongroom.foundation.config.plugin_discovery import installed_plugins

PLUGINS: Final = Path(__file__).parents[2] / "plugins"

STRICTER: Final = {
    "OAuthLoginContract": {"LoginMethodContract", "LoginLinksContract"},
    "PasskeyContract": {"SecondFactorContract"},
}
"""Contracts of shared packages, and the contracts whose rules they have for their kind of plugin."""

OWN_TESTS: Final[dict[str, set[str]]] = {
    "login_dingtalk": {"JobsContract"},
    "login_feishu": {"JobsContract"},
    "login_sso": {"LoginMethodContract"},
    "login_wechat": {"LoginLinksContract"},
    "login_wecom": {"JobsContract"},
}
"""What has tests of its own.

The job of the package login_oauth, a link to a QR code, and a login whose providers are in a database.
"""


def shipped() -> list[str]:
    folders = {path.parent.name for path in PLUGINS.glob("*/pyproject.toml")}
    return sorted(folders & installed_plugins().keys())


def base_names(name: str) -> set[str]:
    """Return the names of the classes that test classes of a plugin derive from."""
    modules = [ast.parse(path.read_text()) for path in (PLUGINS / name / "tests").rglob("*.py")]
    classes = [node for module in modules for node in ast.walk(module) if isinstance(node, ast.ClassDef)]
    bases = {ast.unparse(base).rpartition(".")[2] for node in classes for base in node.bases}
    return bases.union(*(STRICTER[base] for base in bases & STRICTER.keys()))


def test_plugins_are_found() -> None:
    assert {"console", "login_pages", "share_links", "storage_s3", "webhooks"} <= {*shipped()}


@pytest.mark.parametrize("name", shipped())
def test_each_shipped_plugin_derives_from_the_contracts_that_the_check_demands(name: str) -> None:
    manager, plugin = load_plugin(name, {})
    demanded = {subject.contract for subject in contract_subjects(manager, plugin)}
    missing = demanded - base_names(name)
    assert missing == OWN_TESTS.get(name, set())


def test_each_sentence_about_audit_records_has_a_translation() -> None:
    modules = sorted(PLUGINS.glob("*/src/*/audit_sentences.py"))
    assert modules
    for module in modules:
        sentences = import_module(f"{module.parent.name}.audit_sentences").SENTENCES
        chinese = tomllib.loads((module.parent / "translations/zh.toml").read_text("utf-8"))
        assert {sentence.text for sentence in sentences} - chinese.keys() == set()
