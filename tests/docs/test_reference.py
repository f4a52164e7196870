"""docs/reference is what docs/generate.py makes of the code today."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import make_dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from generator.commands import command_of
from generator.configuration import section_of
from generator.errors import error_row
from generator.prose import prose

from strongroom.foundation.config.describe import Section
from strongroom.foundation.config.schema import OPTION_TYPES
from strongroom.plugin_api import option
from strongroom.plugin_api.web import ErrorKind

ROOT = Path(__file__).parents[2]
RETURNED = [
    "Transaction",
    "UserStore",
    "RestResponse",
    "Blueprint",
    "FileInfo",
    "UserInfo",
    "UploadsAPI",
    "EventLog",
]


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


@pytest.mark.parametrize("kind", RETURNED)
def test_the_types_that_the_host_returns_are_described(kind: str) -> None:
    page = (ROOT / "docs/reference/hooks.md").read_text(encoding="utf-8")
    described = page.partition(f"class `{kind}`")[2].partition("\n#")[0]
    assert described.count("\n- `") >= 3


def test_the_types_of_options_are_listed() -> None:
    page = (ROOT / "docs/reference/hooks.md").read_text(encoding="utf-8")
    assert OPTION_TYPES in page.partition("## Options")[2]
