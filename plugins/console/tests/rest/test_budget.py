"""What the list of files loads stays small, because phones load it over slow networks."""

import gzip
import re
from pathlib import PurePosixPath

import pytest
from tests.support.api import Api, Person
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "login_pages", "console"]}}
)
MOST_BYTES = 41_000
MOST_LATER_BYTES = 24_500
NAMED = re.compile(r'<(?:script|link)[^>]* (?:src|href)="([^"]+\.(?:js|css))"')
SPRITE = re.compile(r' data-icons="([^"]+)"')
IMPORTED = re.compile(r'(?:from|import) ?"(\./[^"]+)"')
IMPORTED_LATER = re.compile(r'import\("(\./[^"]+)"\)')

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture
def sizes(api: Api, person: Person, browser: PageBrowser) -> tuple[dict[str, int], dict[str, int]]:
    """The compressed sizes of what the list loads with the page, and of what it loads later."""
    tenant = api.tenant(person)
    page = browser.open(f"/console{tenant.removeprefix('/api/v1')}/files/").text
    loaded, later = dict[str, int](), dict[str, int]()
    waiting = [(path, loaded) for path in NAMED.findall(page) + SPRITE.findall(page)]
    while waiting:
        path, group = waiting.pop(0)
        if path in loaded or path in later:
            continue
        content = browser.request(path).data
        group[path] = len(gzip.compress(content))
        if not path.endswith(".js") or "/vendor/" in path:
            continue
        folder, text = PurePosixPath(path).parent, content.decode()
        waiting += [(str(folder / name), group) for name in IMPORTED.findall(text)]
        waiting += [(str(folder / name), later) for name in IMPORTED_LATER.findall(text)]
    return loaded, later


def test_scripts_styles_and_icons_of_the_list_fit(
    sizes: tuple[dict[str, int], dict[str, int]],
) -> None:
    loaded, _ = sizes
    names = {PurePosixPath(path).name for path in loaded}
    assert names >= {"framed.css", "console.css", "list.js", "rows.js", "icons.svg"}
    assert sum(loaded.values()) <= MOST_BYTES, loaded


def test_uploads_and_the_palette_are_loaded_when_they_are_used(
    sizes: tuple[dict[str, int], dict[str, int]],
) -> None:
    _, later = sizes
    assert {PurePosixPath(path).name for path in later} >= {"tus.min.js", "palette.js"}
    assert sum(later.values()) <= MOST_LATER_BYTES, later
