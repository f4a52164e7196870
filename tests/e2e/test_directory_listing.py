"""The plugin of examples/directory_listing, installed as its users would."""

import os
from pathlib import Path

import pytest

from tests.support.examples import install, run_tests

pytestmark = pytest.mark.extended


def test_its_tests_pass_on_a_live_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = install("directory_listing", target=tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(target), prepend=os.pathsep)
    run_tests("directory_listing")
