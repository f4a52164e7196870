"""docs/reference is what docs/generate.py makes of the code today."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import make_dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest

from strongroom.config.describe import Section
from strongroom.plugin_api import option
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


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def undocumented() -> None:
    pass


def documented() -> None:
    """Do something."""


SILENT_KEY = make_dataclass("Options", [("key", str, option(help=""))])
SILENT_OPTION = click.Command("odd", callback=documented, params=[click.Option(["--odd"])])

Page = Callable[[ModuleType], Any]


@pytest.mark.parametrize(
    ("page", "named"),
    [
        (lambda of: list(of._command(("odd",), click.Command("odd", callback=undocumented))), "odd"),
        (lambda of: list(of._command(("odd",), SILENT_OPTION)), "odd odd"),
        (lambda of: of._error(ErrorKind(400, "error.odd", "")), "error.odd"),
        (lambda of: of._section(Section(("odd",), SILENT_KEY)), "odd.key"),
        (lambda of: of._prose(undocumented), "undocumented"),
    ],
)
def test_what_is_not_described_where_it_is_declared_ends_the_build(
    generate: ModuleType, page: Page, named: str
) -> None:
    SILENT_KEY.__doc__ = "Options."
    with pytest.raises(SystemExit, match=f"{named}.* is not documented where it is declared"):
        page(generate)
