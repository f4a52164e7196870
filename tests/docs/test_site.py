"""The site is built without a warning, and its search has the right page first."""

import functools
import http.server
import json
import re
import shutil
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, ViewportSize
from tests.support.browsers import chromium, needs_chromium

pytestmark = pytest.mark.extended

DOCS = Path(__file__).parents[2] / "docs"
SEARCH = Path(__file__).with_name("search.js")
SEARCH_WORDS = tomllib.loads((DOCS / "_site" / "search-words.toml").read_text(encoding="utf-8"))
WORDS_OF_DECISIONS = ("second factor", "revocation", "webhook", "share link", "passkey", "encrypted")
ANY_OF_THE_WORDS = {
    "social login google": "guides/log-in-with-providers",
    "captcha turnstile": "guides/sign-up",
    "custom domain https": "operate/domain",
    "custom domain https letsencrypt": "operate/domain",
    "s3": "operate/s3",
    "store files in minio": "operate/s3",
    "gdpr": "guides/own-data",
    "delete user gdpr": "guides/own-data",
    "jwt roles claims": "guides/token-claims",
    "totp authenticator enrollment zebra": "guides/second-factors",
}

PAGE = "start/integrator.html"
PHONE = ViewportSize(width=320, height=640)

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")


@pytest.fixture(scope="module")
def site() -> Path:
    """The built site. A link that leads nowhere, or a page without a place, is a warning.

    It is where ``make docs`` builds it, which takes minutes and then has nothing left to do.
    """
    folder = DOCS / "_build"
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", str(DOCS), str(folder)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    return folder


def search(site: Path, *queries: str) -> dict[str, list[str]]:
    """Return the pages of each query, the best first, by the scripts and the index of the site."""
    command = ["node", str(SEARCH), str(site), *queries]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    pages: dict[str, list[str]] = json.loads(result.stdout)
    return pages


def test_the_site_loads_nothing_from_another_host(site: Path) -> None:
    tutorial = (site / "tutorials" / "storage.html").read_text()
    assert "DrawerBackend" in tutorial
    # The search runs in the browser, on an index that is part of the site.
    for page in ("search.html", "index.html"):
        loaded = re.findall(r'<(?:script|link)[^>]* (?:src|href)="([^"]+)"', (site / page).read_text())
        assert any("copy.js" in url for url in loaded)
        assert [url for url in loaded if url.startswith(("http", "//"))] == []


@needs_node
def test_a_word_of_readers_has_its_page_first(site: Path) -> None:
    results = search(site, *(word for words in SEARCH_WORDS.values() for word in words))
    expected = {word: page for page, words in SEARCH_WORDS.items() for word in words}
    assert len(expected) > 150
    first = {word: next(iter(pages), None) for word, pages in results.items()}
    assert {word: page for word, page in first.items() if page != expected[word]} == {}


@needs_node
def test_a_page_is_found_by_any_of_the_words(site: Path) -> None:
    assert {
        query: page for query, (page, *_) in search(site, *ANY_OF_THE_WORDS).items()
    } == ANY_OF_THE_WORDS


@needs_node
@pytest.mark.parametrize("word", WORDS_OF_DECISIONS)
def test_decisions_rank_after_guides(site: Path, word: str) -> None:
    (pages,) = search(site, word).values()
    decisions = [index for index, page in enumerate(pages) if page.startswith("adr/")]
    guides = [index for index, page in enumerate(pages) if page.startswith(("guides/", "operate/"))]
    assert decisions
    assert max(guides) < min(decisions)


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files, and logs no requests."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def url(site: Path) -> Iterator[str]:
    """The address of the site. Browsers have a clipboard for secure origins, such as this."""
    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def page(url: str) -> Iterator[Page]:
    with chromium() as browser:
        context = browser.new_context(viewport=PHONE)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = context.new_page()
        page.goto(f"{url}/{PAGE}")
        yield page


@needs_chromium
def test_a_button_copies_a_whole_command(page: Page) -> None:
    block = page.locator("div.highlight").first
    block.get_by_role("button", name="Copy").click()
    block.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("export STRONGROOM__TOKENS__ALGORITHM=RS256")
    assert copied.endswith("strongroom serve\n")


@needs_chromium
def test_a_phone_shows_long_commands_without_scrolling_sideways(page: Page) -> None:
    widths = page.eval_on_selector_all(
        ".highlight-sh pre", "blocks => blocks.map(block => [block.scrollWidth, block.clientWidth])"
    )
    assert widths
    assert [pair for pair in widths if pair[0] > pair[1]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
