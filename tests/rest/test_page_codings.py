"""Pages are compressed if they declare it, and show no secret (BREACH)."""

import gzip
import re
import zlib
from collections.abc import Iterator, Mapping
from statistics import mean
from typing import Final

import pytest
from tests.support.api import PASSWORD, Answer, Api
from tests.support.console_town import CONFIG, CONSOLE, UNKNOWN, ConsoleTown, routes
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from strongroom.web.pages import browsers

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]

GZIP: Final = {"Accept-Encoding": "gzip"}
ONLY_GZIP: Final = {"Accept-Encoding": "gzip, identity;q=0"}
COMPRESSED: Final = {
    "/find",
    "/find/results",
    "/server/audit/",
    "/server/users/",
    "/tenants/<tenant_id>/activity/",
    "/tenants/<tenant_id>/files/",
    "/tenants/<tenant_id>/files/<folder_id>/",
    "/tenants/<tenant_id>/members/",
    "/tenants/<tenant_id>/trash/",
}
"""The pages of the console that are compressed: lists, and no page with a link, a key or a code."""

LETTERS: Final = 16
"""The letters of a secret that a guess has right."""
RESPONSES: Final = 25
NOISE: Final = 4
"""The most bytes by which averages of sizes differ by chance; a right guess saves about its length."""


@pytest.fixture
def town(api: Api) -> ConsoleTown:
    return ConsoleTown.built(api, str)


@pytest.fixture
def browser(town: ConsoleTown) -> PageBrowser:
    return logged_in(town, root=False)


@pytest.fixture
def files(town: ConsoleTown) -> str:
    """The path of the list of files."""
    return town.path("/tenants/<tenant_id>/files/")


def logged_in(town: ConsoleTown, *, root: bool) -> PageBrowser:
    browser = PageBrowser(town.api)
    browser.log_in((town.root if root else town.owner).email)
    return browser


def coding(answer: Answer) -> str | None:
    return answer.headers.get("Content-Encoding")


def pages(town: ConsoleTown) -> Iterator[tuple[str, Answer]]:
    """Yield the pages of the console that the owner or an administrator sees, by their routes."""
    for is_root in (False, True):
        browser = logged_in(town, root=is_root)
        for rule in routes(town.api):
            if "GET" in (rule.methods or ()):
                answer = browser.request(town.path(rule.rule), None, **ONLY_GZIP)
                if answer.headers["Content-Type"].startswith("text/html") and answer.status_code == 200:
                    yield rule.rule, answer


def test_only_the_pages_of_lists_are_compressed_and_have_no_secret(town: ConsoleTown) -> None:
    share = f"{town.tenant}/shares/{town.parameters['share_id']}"
    secret = town.api.get(share, by=town.owner).json["url"].rpartition("/")[2]
    codings: dict[str, set[str | None]] = {}
    showing = set()
    for rule, answer in pages(town):
        codings.setdefault(rule, set()).add(coding(answer))
        data = gzip.decompress(answer.data) if coding(answer) else answer.data
        if secret in data.decode():
            showing.add(rule)
    assert {rule for rule, values in codings.items() if values == {"gzip"}} == COMPRESSED
    assert {rule for rule, values in codings.items() if values == {None}} == codings.keys() - COMPRESSED
    assert showing
    assert showing.isdisjoint(COMPRESSED)


@pytest.mark.parametrize("path", ["/account/login", "/account/", "/account/security", "/account/keys"])
def test_pages_of_the_account_are_not_compressed(browser: PageBrowser, path: str) -> None:
    assert coding(browser.request(path, None, **ONLY_GZIP)) is None


class TestShares:
    """The page of a shared folder shows no secret but its own path."""

    @pytest.mark.parametrize("site", ["same-origin", "none", "cross-site", ""])
    def test_a_folder_is_compressed_whichever_site_leads_to_it(
        self, town: ConsoleTown, site: str
    ) -> None:
        page = led(town.api, shared(town, kind="read"), site)
        assert (page.status_code, coding(page)) == (200, "gzip")

    def test_a_page_with_a_form_is_not_compressed(self, town: ConsoleTown) -> None:
        page = led(town.api, shared(town, kind="drop"), "none")
        assert (page.status_code, coding(page)) == (200, None)

    def test_a_folder_is_not_compressed_if_its_path_alone_does_not_open_it(
        self, town: ConsoleTown
    ) -> None:
        path, visitor = shared(town, kind="read", password=PASSWORD), PageBrowser(town.api)
        page = visitor.request(path, None, **ONLY_GZIP)
        assert (page.status_code, coding(page)) == (200, None)
        assert visitor.request(path, {"password": PASSWORD}).status_code == 303
        shown = visitor.request(f"{path}/", None, **ONLY_GZIP)
        assert (shown.status_code, coding(shown)) == (200, None)
        assert 'name="password"' not in shown.text


def shared(town: ConsoleTown, **terms: str) -> str:
    """Return the path of a new share of a folder."""
    shares = f"{town.tenant}/files/{town.parameters['folder_id']}/shares"
    share = town.api.post(shares, by=town.owner, json=terms)
    assert share.status_code == 201, share.json
    return "/s/" + str(share.json["url"].rpartition("/")[2])


def led(api: Api, path: str, site: str) -> Answer:
    """Return a page as a browser gets it that another site has led there."""
    return PageBrowser(api).request(path, None, **ONLY_GZIP, **{"Sec-Fetch-Site": site})


def test_a_page_is_coded_as_the_browser_accepts(browser: PageBrowser, files: str) -> None:
    for accepted, expected in {"gzip, br": "gzip", "br": None, "gzip;q=0": None, "": None}.items():
        page = browser.request(files, None, **{"Accept-Encoding": accepted})
        data = gzip.decompress(page.data) if expected else page.data
        assert (coding(page), data.endswith(b"</html>")) == (expected, True), accepted
        assert page.headers["Content-Length"] == str(len(page.data))
        vary = ", ".join(page.headers.getlist("Vary"))
        assert {"Accept-Language", "Accept-Encoding", "Sec-Fetch-Site"} <= {*vary.split(", ")}
        assert "ETag" not in page.headers
    assert page.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("site", "expected"),
    [("same-origin", "gzip"), ("none", "gzip"), ("same-site", None), ("cross-site", None), ("", None)],
)
def test_a_page_that_another_site_may_have_led_to_is_not_compressed(
    browser: PageBrowser, files: str, site: str, expected: str | None
) -> None:
    page = browser.request(files, None, **ONLY_GZIP, **{"Sec-Fetch-Site": site})
    assert (page.status_code, coding(page)) == (200, expected)


def test_head_has_the_coding_of_get(browser: PageBrowser, files: str) -> None:
    page = browser.request(files, None, **GZIP)
    head = browser.send_bytes("HEAD", files, b"", **GZIP)
    assert (head.status_code, head.data) == (200, b"")
    without = {"Content-Length", "Content-Security-Policy", "X-Request-Id"}
    of_both = [{k: v for k, v in each.headers.items() if k not in without} for each in (page, head)]
    assert of_both[0] == of_both[1]


def test_a_refusal_is_not_compressed(browser: PageBrowser, files: str) -> None:
    for path in (f"{files}{UNKNOWN}/", f"{CONSOLE}/nowhere"):
        page = browser.request(path, None, **ONLY_GZIP, Accept="text/html, application/xhtml+xml")
        assert (page.status_code >= 400, coding(page)) == (True, None), path


class TestTokens:
    """The token of forms is another one in each response, and hides the secret."""

    def test_two_responses_have_no_token_in_common(self, browser: PageBrowser, files: str) -> None:
        for path in (files, "/account/login", "/account/", f"{CONSOLE}/find"):
            first, second = (browser.request(path).text for _ in range(2))
            tokens = [{*re.findall(r'csrf(?:" value)?="([^"]+)"', page)} for page in (first, second)]
            assert [len(values) for values in tokens] == [1, 1], path
            token = tokens[0].pop()
            for part in (token[:LETTERS], token[32 : 32 + LETTERS], token[-LETTERS:]):
                assert part not in second, path

    def test_each_token_is_valid_until_the_next_login(
        self, town: ConsoleTown, browser: PageBrowser
    ) -> None:
        tokens = []
        for _ in range(3):
            browser.open(f"{CONSOLE}/")
            tokens.append(browser.forms[f"{CONSOLE}/logout"]["csrf"])
        for token in tokens:
            assert (
                browser.request(f"{CONSOLE}/tenants", {"csrf": token, "name": "New"}).status_code == 303
            )
        browser.log_in(town.owner.email)
        assert browser.request(f"{CONSOLE}/tenants", {"csrf": tokens[0]}).status_code == 400

    def test_a_guess_does_not_shorten_a_response(self, browser: PageBrowser) -> None:
        assert abs(saving(browser)) <= NOISE

    def test_a_guess_would_shorten_responses_with_one_secret(
        self, browser: PageBrowser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(browsers, "masked", lambda secret: secret * 2)
        assert saving(browser) > 2 * NOISE


def saving(browser: PageBrowser) -> float:
    """Return the bytes that a right guess of the beginning of a token saves, compared to a wrong one."""
    browser.open(f"{CONSOLE}/find")
    token = browser.forms[f"{CONSOLE}/logout"]["csrf"]
    right, wrong = token[:LETTERS], token[:LETTERS].translate(_OTHERS)
    sizes: Mapping[str, list[int]] = {right: [], wrong: []}
    for _ in range(RESPONSES):
        for guess, lengths in sizes.items():
            page = browser.request(f'{CONSOLE}/find?q=csrf"+value="{guess}', None, **GZIP)
            assert guess.encode() in zlib.decompress(page.data, wbits=31)
            lengths.append(len(page.data))
    return mean(sizes[wrong]) - mean(sizes[right])


_OTHERS: Final = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
    "NOPQRSTUVWXYZABCDEFGHIJKLMnopqrstuvwxyzabcdefghijklm5678901234_-",
)
"""Another letter for each letter of a token."""
