"""docs/reference is what docs/generate.py makes of the code today."""

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import make_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest
from generator.commands import command_of
from generator.configuration import section_of
from generator.errors import error_row
from generator.prose import prose

from strongroom import plugin_api
from strongroom.foundation.config.describe import Section
from strongroom.foundation.config.schema import OPTION_TYPES
from strongroom.foundation.plugins import hookspecs
from strongroom.plugin_api import option, storage
from strongroom.plugin_api.web import ErrorKind

ROOT = Path(__file__).parents[2]


def test_the_reference_is_not_stale() -> None:
    result = subprocess.run(
        [sys.executable, ROOT / "docs" / "generate.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")


def undocumented() -> None:
    pass


def documented() -> None:
    """Do something."""


SILENT_KEY = make_dataclass("Options", [("key", str, option(help=""))])
SILENT_OPTION = click.Command("odd", callback=documented, params=[click.Option(["--odd"])])

Page = Callable[[], Any]


@pytest.mark.parametrize(
    ("page", "named"),
    [
        (lambda: list(command_of(("odd",), click.Command("odd", callback=undocumented))), "odd"),
        (lambda: list(command_of(("odd",), SILENT_OPTION)), "odd odd"),
        (lambda: error_row(ErrorKind(400, "error.odd", "")), "error.odd"),
        (lambda: section_of(Section(("odd",), SILENT_KEY)), "odd.key"),
        (lambda: prose(undocumented), "undocumented"),
    ],
)
def test_a_missing_description_ends_the_build(page: Page, named: str) -> None:
    SILENT_KEY.__doc__ = "Options."
    with pytest.raises(SystemExit, match=f"{named}.* is not documented where it is declared"):
        page()


_MARKS = re.compile(r":\w+:`~?|[`*]|::")
_HEADINGS = {"Args:", "Returns:", "Yields:", "Raises:", "Attributes:", "python", ""}
"""Lines that a page writes in another way than a docstring, besides blanks and bullets."""


def flattened(text: str) -> str:
    lines = (line.strip().removeprefix("- ") for line in _MARKS.sub("", text).splitlines())
    return " ".join(" ".join(line.rstrip(":") for line in lines if line not in _HEADINGS).split())


def public_objects(module: ModuleType) -> Iterator[tuple[str, str, str]]:
    """Yield the heading, the name and the docstring of all that plugins use of a module."""
    for name, item in vars(module).items():
        if name.startswith("_") or getattr(item, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(item):
            yield f"## function `{name}`", name, item.__doc__ or ""
        elif isinstance(item, type):
            yield f"## class `{name}`", name, item.__doc__ or ""
            for key, member in vars(item).items():
                text = inspect.getdoc(member) if hasattr(member, "__get__") else None
                if not key.startswith("_") and text and type(member).__name__ != "member_descriptor":
                    yield f"### `{name}.{key}`", f"{name}.{key}", text


def page_faults(module: ModuleType, page: str) -> list[str]:
    """Return the names of a module that its page lacks, or whose docstring it does not have whole."""
    faults = []
    for heading, name, text in public_objects(module):
        section = page.partition(f"\n{heading}\n")[2].partition("\n## ")[0]
        if flattened(inspect.cleandoc(text)) not in flattened(section) or not section:
            faults.append(f"{module.__name__}.{name}")
    return faults


def api_modules() -> list[ModuleType]:
    names = [item.name for item in pkgutil.iter_modules(plugin_api.__path__) if item.name != "answers"]
    return [importlib.import_module(f"strongroom.plugin_api.{name}") for name in names]


def test_the_pages_of_the_plugin_api_have_every_docstring_whole() -> None:
    names = [name for module in api_modules() for _, name, _ in public_objects(module)]
    assert len(names) > 400
    missing = [
        fault
        for module in api_modules()
        for fault in page_faults(module, _page_of(module.__name__.rpartition(".")[2]))
    ]
    assert missing == []


def _page_of(module: str) -> str:
    path = ROOT / f"docs/reference/plugin-api/{module}.md"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def test_a_page_without_the_errors_of_a_method_is_a_fault() -> None:
    page = _page_of("storage")
    assert page_faults(storage, page.replace("the store has no space.", "")) == [
        "strongroom.plugin_api.storage.StorageBackend.put"
    ]
    assert page_faults(storage, page.replace("## class `ObjectNotFound`", "")) == [
        "strongroom.plugin_api.storage.ObjectNotFound"
    ]


def test_signatures_show_no_object_of_the_interpreter() -> None:
    pages = (ROOT / "docs/reference/plugin-api").glob("*.md")
    shown = re.compile(r" object at 0x|<class|<bound|<function|<factory>")
    assert [page.name for page in pages if shown.search(page.read_text(encoding="utf-8"))] == []


def test_the_constants_of_the_plugin_api_have_their_units() -> None:
    assert "`CHUNK_SIZE: Final = 256 * 1024`: The usual size in bytes" in _page_of("storage")
    assert "`options_type: ClassVar[type[Any]] = NoOptions`: A frozen" in _page_of("extension")


def test_the_types_of_options_are_listed() -> None:
    page = (ROOT / "docs/reference/hooks.md").read_text(encoding="utf-8")
    assert OPTION_TYPES in page.partition("## Options")[2]


def test_the_page_of_hooks_links_all_that_plugins_return_and_raise() -> None:
    sections = re.split(r"\n## ", (ROOT / "docs/reference/hooks.md").read_text())
    texts = {section.split("\n")[0].strip("`"): section for section in sections}
    modules = [
        f"{plugin_api.__name__}.{info.name}" for info in pkgutil.iter_modules(plugin_api.__path__)
    ]
    own = {
        name: item
        for module in map(importlib.import_module, modules)
        for name, item in vars(module).items()
        if not name.startswith("_")
        and str(getattr(item, "__module__", "")).startswith(plugin_api.__name__)
    }
    hooks = {name: hook for name, hook in vars(hookspecs).items() if hasattr(hook, "strongroom_spec")}
    missing = [
        (hook, name)
        for hook, function in hooks.items()
        for name in re.findall(
            r"\w+", str(function.__annotations__.get("return")).split("Callable[[")[0]
        )
        if name in own and not name.startswith("Any") and f"[`{name}`](plugin-api/" not in texts[hook]
    ]
    raised = [
        name for name, item in own.items() if inspect.isclass(item) and issubclass(item, Exception)
    ]
    errors = texts["Errors that plugins raise or catch"]
    assert [*missing, *(name for name in raised if f"[`{name}`](plugin-api/" not in errors)] == []
    assert len(hooks) > 30
    assert len(raised) > 10
