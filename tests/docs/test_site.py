"""The site is built without a warning: no link leads nowhere, no included file is missing."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.extended

DOCS = Path(__file__).parents[2] / "docs"


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    options = ("-W", "--keep-going", "-q")
    command = [sys.executable, "-m", "sphinx", *options, str(DOCS), str(tmp_path / "site")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    tutorial = (tmp_path / "site" / "tutorials" / "storage.html").read_text()
    assert "DrawerBackend" in tutorial
    # The search runs in the browser, on an index that is part of the site.
    assert "quota" in (tmp_path / "site" / "searchindex.js").read_text()
    scripts = re.findall(r'<script[^>]* src="([^"]+)"', (tmp_path / "site" / "search.html").read_text())
    assert scripts
    assert [script for script in scripts if script.startswith(("http", "//"))] == []
