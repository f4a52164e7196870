"""The functions that the page about rules names exist."""

import ast
import re
import tomllib
from functools import reduce
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

from strongroom.foundation.config.server_settings import PluginsSettings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/architecture/where-rules-live.md").read_text(encoding="utf-8")
RULES = re.findall(r"^\| [^|]+ \| `(\S+)\.py` \| `(\S+)` \|$", PAGE, re.MULTILINE)

THREAD = re.compile(r'(?:Thread\((?:[^()]|\([^()]*\))*?\bname|thread_name_prefix)=f?"([^"]+)"')


def has_function(path: str, name: str) -> bool:
    """Return whether a module of the core or of a plugin defines a function, and does not import it."""
    dotted = path.replace("/", ".")
    if path.startswith("strongroom_"):
        file = next(ROOT.glob(f"plugins/*/src/{path}.py"), Path())
    else:
        file, dotted = ROOT / f"core/src/strongroom/{path}.py", f"strongroom.{dotted}"
    if not file.is_file():
        return False
    module: Any = import_module(dotted)
    found = reduce(lambda value, member: getattr(value, member, None), name.split("."), module)
    statements = ast.parse(file.read_text(encoding="utf-8")).body
    defined = {getattr(statement, "name", None) for statement in statements}
    return callable(found) and name.partition(".")[0] in defined


def test_the_function_of_each_rule_is_defined_in_its_file() -> None:
    assert [rule for rule in RULES if not has_function(*rule)] == []


def test_each_row_of_the_tables_names_a_function() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and "| file |" not in line]
    assert len(rows) == len(RULES) >= 12


def test_the_layers_are_those_of_the_import_contract() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    layers = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    names = {name for layer in chain(*layers) for name in re.split(r" [:|] ", layer)} - {
        "container",
        "commands",
        "services",
    }
    described = PAGE.partition("## Layers")[2]
    assert names <= set(re.findall(r"`(\w+)`", described))


def test_no_module_of_the_core_names_a_plugin_but_those_enabled_by_default() -> None:
    # Some modules of the core have the name of the plugin that implements their seam, and a sender of
    # messages has that of the console.
    allowed = {"storage_local", "webhooks", "password_schemes", "console"}
    plugins = {path.name for path in (ROOT / "plugins").iterdir()} - allowed
    named = re.compile(rf"\b(?:{'|'.join(sorted(plugins))}|wechat|passkey\.)\b")
    sources = {
        path.name: path.read_text(encoding="utf-8")
        for path in (ROOT / "core/src/strongroom").rglob("*.py")
    }
    for name in PluginsSettings().enabled:
        sources["server_settings.py"] = sources["server_settings.py"].replace(f'"{name}",', "", 1)
    assert {name: named.findall(text) for name, text in sources.items() if named.search(text)} == {}


def test_the_drawing_of_the_processes_names_each_thread_of_the_core() -> None:
    drawing = (ROOT / "docs/architecture/processes.svg").read_text(encoding="utf-8")
    sources = [
        path.read_text(encoding="utf-8")
        for path in (ROOT / "core/src/strongroom").rglob("*.py")
        if "testing" not in path.parts
    ]
    names = {name for source in sources for name in THREAD.findall(source)}
    assert len(names) > 10
    # The number or the object that a name ends with varies.
    assert {name for name in names if name.partition("{")[0].rstrip(" -") not in drawing} == set()


def test_the_overview_names_modules_that_exist() -> None:
    page = (ROOT / "docs/architecture/overview.md").read_text(encoding="utf-8")
    paths = re.findall(r"`(\w+/[\w/]+(?:\.py|/))`", page)
    assert paths
    assert [path for path in paths if not (ROOT / "core/src/strongroom" / path).exists()] == []
