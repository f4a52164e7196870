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
MOST_BYTES = 60_000
NAMED = re.compile(r'<(?:script|link)[^>]* (?:src|href)="([^"]+\.(?:js|css))"')
IMPORTED = re.compile(r'(?:from|import) ?\(?"(\./[^"]+)"')

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


def test_scripts_and_styles_of_the_list_fit(api: Api, person: Person, browser: PageBrowser) -> None:
    """The modules that are imported later count as well, such as the one of uploads."""
    tenant = api.tenant(person)
    page = browser.open(f"/console{tenant.removeprefix('/api/v1')}/files/")
    waiting, sizes = NAMED.findall(page.text), dict[str, int]()
    assert {PurePosixPath(path).name for path in waiting} >= {"pages.css", "console.css", "list.js"}
    while waiting:
        path = waiting.pop()
        if path in sizes:
            continue
        content = browser.request(path).data
        sizes[path] = len(gzip.compress(content))
        folder = PurePosixPath(path).parent
        is_own = path.endswith(".js") and "/vendor/" not in path
        imported = IMPORTED.findall(content.decode()) if is_own else []
        waiting += [str(folder / name.removeprefix("./")) for name in imported]
    assert any(path.endswith("vendor/tus.min.js") for path in sizes)
    assert sum(sizes.values()) <= MOST_BYTES, sizes
