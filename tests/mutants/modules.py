"""Rows about the modules of a distribution: short paths of modules and tests."""

from typing import Final

from tests.mutants.mutant import Mutant

CORE: Final = "core/src/strongroom/"
PLUGINS: Final = "plugins/"


def core(name: str, guard: str, module: str, old: str, new: str, *tests: str) -> Mutant:
    """Return a row about a module of the core, with tests below ``tests``."""
    return Mutant(name, guard, CORE + module, old, new, tuple(f"tests/{test}" for test in tests))


def wechat(name: str, guard: str, module: str, old: str, new: str, *tests: str) -> Mutant:
    """Return a row about WeChat, with the plugin's own tests."""
    folder = f"{PLUGINS}login_wechat/"
    module = f"{folder}src/strongroom_login_wechat/{module}"
    return Mutant(name, guard, module, old, new, tuple(f"{folder}tests/{test}" for test in tests))


def login_pages(name: str, guard: str, module: str, old: str, new: str, *tests: str) -> Mutant:
    """Return a row about the login pages, with the plugin's own tests."""
    folder = f"{PLUGINS}login_pages/"
    module = f"{folder}src/strongroom_login_pages/{module}"
    return Mutant(name, guard, module, old, new, tuple(f"{folder}tests/{test}" for test in tests))


def passkey(name: str, guard: str, module: str, old: str, new: str, *tests: str) -> Mutant:
    """Return a row about passkeys, with the plugin's own tests."""
    folder = f"{PLUGINS}login_passkey/"
    module = f"{folder}src/strongroom_login_passkey/{module}"
    return Mutant(name, guard, module, old, new, tuple(f"{folder}tests/{test}" for test in tests))


def webhooks(name: str, guard: str, module: str, old: str, new: str, *tests: str) -> Mutant:
    """Return a row about webhooks, with tests below ``tests``."""
    path = f"{PLUGINS}webhooks/src/strongroom_webhooks/{module}"
    return Mutant(name, guard, path, old, new, tuple(f"tests/{test}" for test in tests))


def shares(name: str, guard: str, module: str, old: str, new: str, *tests: str) -> Mutant:
    """Return a row about share links, with tests below ``tests/rest``."""
    path = f"{PLUGINS}share_links/src/strongroom_share_links/{module}"
    return Mutant(name, guard, path, old, new, tuple(f"tests/rest/{test}" for test in tests))
