"""The host has no member without a user: each is a promise to authors of plugins."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.support.host_facets import FACETS

from strongroom.plugin_api.host import HostAPI

ROOT = Path(__file__).parents[4]
USERS = (
    *ROOT.glob("plugins/*/src/**/*.py"),
    *ROOT.glob("examples/*/src/**/*.py"),
    *ROOT.glob("examples/plugins.d/*.py"),
    *ROOT.glob("core/src/strongroom/plugin_api/*.py"),
    *ROOT.glob("core/src/strongroom/testing/*.py"),
)
MOST: Final = 213
"""The members of the host and its facets; the objects that they return have 16 more."""


def members(kind: type) -> list[str]:
    return [name for name in vars(kind) if not name.startswith("_")]


def uses(source: str) -> Iterator[tuple[str, str]]:
    """Yield the members that a module uses, each after the name before it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            owner = node.value.func if isinstance(node.value, ast.Call) else node.value
            if isinstance(owner, ast.Name | ast.Attribute):
                name = owner.id if isinstance(owner, ast.Name) else owner.attr
                yield name.removeprefix("_").removeprefix("current_"), node.attr


def test_each_member_of_the_host_has_a_user_and_they_are_few() -> None:
    assert {*uses("self._host.files.copy(current_host().clock)")} == {
        ("self", "_host"),
        ("host", "files"),
        ("files", "copy"),
        ("host", "clock"),
    }
    surface = {(facet, name) for facet, kind in FACETS.items() for name in members(kind)}
    surface |= {("host", name) for name in members(HostAPI)}
    used = {use for path in USERS for use in uses(path.read_text(encoding="utf-8"))}
    assert surface - used == set()
    assert 100 < len(surface) <= MOST


def test_docstrings_of_the_api_name_members_that_exist() -> None:
    kinds = {kind.__name__: kind for kind in (HostAPI, *FACETS.values())}
    found = {
        (path.name, reference)
        for path in (ROOT / "core/src/strongroom/plugin_api").glob("*.py")
        for reference in re.findall(r":(?:meth|attr):`(\w+API\.\w+)", path.read_text(encoding="utf-8"))
    }
    assert len(found) > 20
    owners = [(item, kinds.get(item[1].partition(".")[0])) for item in found]
    missing = {item for item, kind in owners if kind and not hasattr(kind, item[1].partition(".")[2])}
    assert missing == set()
