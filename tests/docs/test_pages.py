"""The pages of docs are true: every command that can run runs, every answer is compared.

Their configurations are checked by ``test_configurations``. The page of a seam begins a new plugin by
``strongroom plugins new``, installs it offline and checks its contract, so that this tests the templates
of all kinds; what the wheels of new plugins contain is tested by ``tests/e2e/test_plugin_kit.py``.
"""

import re
import sys
import tomllib
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from tests.support.environment import Environment
from tests.support.pages import blocks_of, follow

from strongroom.foundation.plugins.kinds import KINDS
from strongroom.testing.server import free_port

DOCS = Path(__file__).parents[2] / "docs"
WRITTEN = ("start", "tutorials", "guides", "operate", "contributing")
PAGES = [path for folder in WRITTEN for path in sorted((DOCS / folder).glob("*.md"))]
TOOLS = Path(sys.executable).parent
RUN = ("sh", "json", "text", "toml")

ELSEWHERE = {
    ("verifying-tokens.md", "python"): "tests/rest/test_jwks.py",
    ("webhooks.md", "python"): "plugins/webhooks/tests/e2e/test_receivers.py",
    ("webhooks.md", "ts"): "plugins/webhooks/tests/e2e/test_receivers.py",
    ("typescript-client.md", "ts"): "tests/e2e/test_typescript_client.py",
    ("login-pages.md", "js"): "tests/e2e/test_browser_guides.py",
    ("passkeys.md", "js"): "tests/e2e/test_browser_guides.py",
    ("folder-uploads.md", "js"): "tests/e2e/test_browser_guides.py",
    ("kit.md", "python"): "tests/unit/plugin_api/test_outbound.py",
    ("routes.md", "python"): "tests/unit/foundation/plugins/test_routes_page.py",
    ("table.md", "python"): "tests/unit/identity/users/test_plugin_values.py",
    ("pages.md", "python"): "plugins/login_pages/tests/test_pages.py",
    ("redirect_login.md", "python"): "plugins/login_pages/tests/rest/test_named_logins.py",
    ("message-texts.md", ""): "tests/docs/test_message_texts.py",
    ("file-delivery.md", "nginx"): "tests/e2e/test_x_accel.py",
}


def name(page: Path) -> str:
    return f"{page.parent.name}-{page.stem}"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment.create(tmp_path_factory.mktemp("environment") / ".venv")


def test_every_block_is_run_by_a_test_or_says_why_not() -> None:
    # Code of a file: docs/generate.py keeps it identical, and the file's own tests run it.
    unexplained = [
        (page.name, block.content)
        for page in PAGES
        for block in blocks_of(page)
        if not (block.language in RUN or {"file", "kit", "not run"} & block.notes.keys())
        and (page.name, block.language) not in ELSEWHERE
    ]
    assert unexplained == []


def test_tutorials_hold_their_code_themselves() -> None:
    for page in (DOCS / "tutorials").glob("*.md"):
        assert "literalinclude" not in page.read_text(), page
    storage = (DOCS / "tutorials" / "storage.md").read_text()
    assert "class DrawerBackend(FilesystemBackend[DrawerOptions]):" in storage


def test_each_page_that_starts_a_server_says_how_to_install_it() -> None:
    pages = [page for page in PAGES if page.parent.name in ("start", "guides")]
    serving = [page for page in pages if "<!-- serve -->" in page.read_text()]
    assert serving
    assert [page.name for page in serving if "install.md)" not in page.read_text()] == []


def test_each_guide_is_in_the_navigation_once_and_words_of_the_search_name_pages() -> None:
    navigation = (DOCS / "_site" / "navigation.md").read_text()
    lines = [line for line in navigation.splitlines() if line.startswith("guides/")]
    guides = [path for line in lines for path in DOCS.glob(f"{line}.md")]
    assert sorted(guides) == sorted(DOCS.glob("guides/**/*.md"))
    words = tomllib.loads((DOCS / "_site" / "search-words.toml").read_text(encoding="utf-8"))
    assert [page for page in words if not (DOCS / f"{page}.md").exists()] == []


def runs(page: Path) -> bool:
    # These change the source tree: tests/docs/test_contributors.py follows them in a copy.
    return page.name not in ("first-change.md", "add-a-feature.md") and any(
        block.language == "sh" and "not run" not in block.notes for block in blocks_of(page)
    )


def begun(page: Path) -> list[str]:
    """Return the kinds of plugins that a page begins as projects."""
    return re.findall(r"^strongroom plugins new (\w+) drawer$", page.read_text(), re.MULTILINE)


def case(page: Path) -> ParameterSet:
    """Return a page to follow. The pages for a start are in each run of the tests."""
    is_first = "start" in page.parts or page.name == "README.md"
    return pytest.param(page, id=name(page), marks=[] if is_first else [pytest.mark.extended])


@pytest.mark.parametrize("page", [case(page) for page in PAGES if runs(page)])
def test_the_commands_of_a_page_have_the_described_results(
    page: Path, tmp_path: Path, environment: Environment
) -> None:
    printed = follow(page, tmp_path, environment, free_port())
    for kind in begun(page):
        assert f"{kind}_drawer 0.1.0 fits this server\n" in printed
        (described,) = (item for item in KINDS if item.name == kind)
        title = f"{kind} drawer" if described.base else described.hook
        (judged,) = re.findall(f"^{title}: {described.contract_name} .*$", printed, re.MULTILINE)
        assert " passed" in judged
        assert " failed" not in judged
        # What mypy has learnt of the libraries serves all of them.
        mypy = [str(TOOLS / "mypy"), "--cache-dir", str(environment.folder / "mypy")]
        environment.succeed(mypy, tmp_path / f"strongroom-{kind}-drawer")


def test_each_kind_of_plugin_is_begun_by_a_page() -> None:
    found = [kind for page in PAGES for kind in begun(page)]
    assert sorted(found) == sorted(kind.name for kind in KINDS)
