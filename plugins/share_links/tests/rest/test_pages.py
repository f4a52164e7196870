"""The pages of shares say why a password or a file was refused, and offer only what can succeed."""

import html
import io
import re
import tomllib
from importlib.resources import files
from typing import Any

import pytest
from tests.support.api import Answer, Api
from tests.support.config import Table
from tests.support.page_browser import PageBrowser
from tests.support.proofs_of_work import solve, work_in
from tests.support.shares import ALL_KINDS, PASSWORD, PLUGINS, PNG, Shared, Visitor

from strongroom.builtin.image_captcha import DigitsCaptcha
from strongroom.content.files.service import FileService
from strongroom.foundation import errors
from strongroom.identity.verification.captchas import CaptchaService, PageCaptcha
from strongroom_share_links import listing, pages

MESSAGES = files("strongroom_share_links").joinpath("messages")
TEXTS = {
    language: tomllib.loads(MESSAGES.joinpath(f"{language}.toml").read_text("utf-8"))
    for language in ("en", "zh")
}
LANGUAGES = sorted(TEXTS)
FILE: Any = {
    "headers": {"Content-Disposition": 'attachment; filename="a.txt"'},
    "content_type": "application/octet-stream",
}


pytestmark = pytest.mark.config({"plugins": {"enabled": PLUGINS, "share_links": {"kinds": ALL_KINDS}}})


@pytest.fixture
def shared(api: Api) -> Shared:
    return Shared.made(api)


def page(visitor: Visitor, language: str, method: str = "GET", path: str = "", **sent: Any) -> Answer:
    client = visitor.api.app.test_client(use_cookies=False)
    headers = {
        "Accept": "text/html",
        "Accept-Language": language,
        **sent.pop("headers", {}),
    }
    url = f"/s/{visitor.secret}{path}"
    return Answer(client.open(url, method=method, headers=headers, **sent))


def text_of(reply: Answer) -> str:
    return html.unescape(reply.text)


def alert_of(reply: Answer) -> str:
    """Return the message about what was refused."""
    return text_of(reply).partition('role="alert"')[2].partition(">")[2].partition("</p>")[0]


def fault_of(reply: Answer, field: str) -> str:
    """Return the fault below a field."""
    return text_of(reply).partition(f'class="fault" id="{field}-fault">')[2].partition("</p>")[0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_after_wrong_passwords_the_page_offers_the_captcha(shared: Shared, language: str) -> None:
    visitor, texts = shared.share(password=PASSWORD), TEXTS[language]
    for number in range(50):
        address: Any = {"environ_overrides": {"REMOTE_ADDR": f"192.0.2.{number // 9}"}}
        visitor.send("POST", "/proofs", json={"password": "wrong password"}, **address)
    elsewhere: Any = {"environ_overrides": {"REMOTE_ADDR": "198.51.100.7"}}
    asked = page(visitor, language, "POST", data={"password": PASSWORD}, **elsewhere)
    assert alert_of(asked) == texts["captcha_required"]
    captcha = asked.text.partition('name="captcha" value="')[2].partition('"')[0]
    body = {"password": PASSWORD, "captcha": captcha, "captchaAnswer": "wrong"}
    again = page(visitor, language, "POST", data=body, **elsewhere)
    assert alert_of(again) == texts["captcha_invalid"]
    captcha = again.text.partition('name="captcha" value="')[2].partition('"')[0]
    body |= {"captcha": captcha, "captchaAnswer": "42"}
    opened = page(visitor, language, "POST", data=body, **elsewhere)
    assert (opened.status_code, "__Host-share" in opened.headers["Set-Cookie"]) == (303, True)


class TestCaptchasOfBrowsers:
    """After wrong passwords the browser solves a captcha, or without its script shows a picture."""

    @pytest.fixture
    def config_changes(self) -> Table:
        plugins = {"enabled": PLUGINS, "share_links": {"kinds": ALL_KINDS}}
        return {"plugins": plugins, "captcha": {"provider": "image", "answer": None}}

    @pytest.fixture
    def visitor(self, shared: Shared) -> Visitor:
        visitor = shared.share(password=PASSWORD)
        for _ in range(10):
            visitor.send("POST", "/proofs", json={"password": "wrong password"})
        return visitor

    def send(self, visitor: Visitor, language: str, answer: Any = None, **fields: str) -> Answer:
        """Send the form of the last page with a captcha."""
        data = {"password": PASSWORD, **fields}
        if answer is not None:
            match = re.search('name="captcha" value="([^"]+)"', answer.text)
            assert match
            data["captcha"] = match[1]
        return page(visitor, language, "POST", data=data)

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_the_browser_solves_it(self, visitor: Visitor, language: str) -> None:
        asked = self.send(visitor, language)
        assert alert_of(asked) == TEXTS[language]["captcha_automatic"]
        assert "aria-invalid" not in asked.text
        solution = solve(work_in(asked.text))
        # After a wrong password, the next attempt needs another, without a further page.
        wrong = self.send(visitor, language, asked, password="wrong one", captchaAnswer=solution)
        assert fault_of(wrong, "password") == TEXTS[language]["password_wrong"]
        used = self.send(visitor, language, asked, captchaAnswer=solution)
        assert used.status_code == 400
        opened = self.send(visitor, language, wrong, captchaAnswer=solve(work_in(wrong.text)))
        assert (opened.status_code, "__Host-share" in opened.headers["Set-Cookie"]) == (303, True)

    @pytest.mark.parametrize("password", [PASSWORD, ""])
    def test_without_an_answer_the_browser_gets_a_picture(
        self, visitor: Visitor, password: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = self.send(visitor, "en")
        picture = self.send(visitor, "en", asked, password=password, captchaKind="picture")
        assert 'src="data:image/png' in picture.text
        assert (alert_of(picture), fault_of(picture, "password")) == (
            TEXTS["en"]["captcha_required"],
            "",
        )
        assert "captcha-fault" not in picture.text
        wrong = self.send(visitor, "en", picture, captchaAnswer="wrong", captchaKind="picture")
        assert alert_of(wrong) == TEXTS["en"]["captcha_invalid"]
        monkeypatch.setattr(DigitsCaptcha, "verify", lambda *_: True)
        opened = self.send(visitor, "en", wrong, captchaAnswer="123456", captchaKind="picture")
        assert opened.status_code == 303

    def test_the_captcha_of_another_page_is_refused(self, visitor: Visitor) -> None:
        asked, captchas = self.send(visitor, "en"), visitor.api.container.get(CaptchaService)
        other = captchas.issue(PageCaptcha(captchas.page_provider, "login_pages/password"))
        answer = {"captcha": other.id, "captchaAnswer": solve(dict(other.payload))}
        refused = self.send(visitor, "en", **answer)
        assert (asked.status_code, refused.status_code) == (400, 400)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("error", "text"),
    [
        (errors.ContentInfected, "infected"),
        (errors.ContentUnscannable, "unscannable"),
        (errors.StorageFull, "storage_full"),
        (errors.PayloadTooLarge, "too_large"),
        (errors.DigestMismatch, "drop_refused"),
    ],
)
def test_each_refusal_of_a_file_has_its_own_text(
    shared: Shared,
    monkeypatch: pytest.MonkeyPatch,
    language: str,
    error: type[errors.StrongroomError],
    text: str,
) -> None:
    def refuse(*_: Any) -> None:
        raise error

    monkeypatch.setattr(FileService, "upload", refuse)
    visitor = shared.share(kind="drop")
    reply = page(visitor, language, "POST", "/drop", data=b"x", **FILE)
    assert (reply.status_code, fault_of(reply, "file")) == (error.status, TEXTS[language][text])
    # The script has the same texts.
    script = f'data-refusal-{error.code.removeprefix("error.")}="{TEXTS[language][text]}'
    assert text == "drop_refused" or script in text_of(reply)


def test_a_page_has_the_folders_of_the_whole_share_first(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (listing, pages):
        monkeypatch.setattr(module, "PER_PAGE", 2)
    monkeypatch.setattr(listing, "_AT_ONCE", 2)
    for name in ("img10.png", "img9.png"):
        shared.api.upload(shared.tenant, shared.maker, name, b"x", shared.folder)
    shared.api.folder(shared.tenant, shared.maker, "zoo", parent=shared.folder)
    visitor = shared.share()
    shown = [page(visitor, "en", path=f"/?page={number}").text for number in (1, 2, 3)]
    found = [re.findall(r">(Inside|zoo|img9\.png|img10\.png|note\.txt)<", text) for text in shown]
    assert found == [["Inside", "zoo"], ["img9.png", "img10.png"], ["note.txt"]]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_full_drop_box_offers_no_upload(shared: Shared, language: str) -> None:
    texts = TEXTS[language]
    limits = {"maxBytes": 4, "allowedTypes": ["text/plain"]}
    visitor = shared.share(kind="drop", drop=limits)
    offered = text_of(page(visitor, language))
    assert ('type="file"' in offered, 'role="status">' in offered.partition("<form")[0]) == (True, False)
    for content, text in ((b"12345", "drop_full"), (b"\x89PNG", "type_refused")):
        reply = page(visitor, language, "POST", "/drop", data=content, **FILE)
        assert fault_of(reply, "file") == texts[text]
    assert visitor.drop("a.txt", b"1234").status_code == 201
    full = text_of(page(visitor, language))
    assert ('type="file"' in full, texts["drop_closed"] in full) == (False, True)


@pytest.mark.parametrize("language", LANGUAGES)
def test_faults_are_at_their_fields(shared: Shared, language: str) -> None:
    texts, visitor = TEXTS[language], shared.share(password=PASSWORD)
    wrong = page(visitor, language, "POST", data={"password": "wrong password"})
    assert (wrong.status_code, fault_of(wrong, "password")) == (403, texts["password_wrong"])
    assert 'aria-invalid="true" autofocus' in wrong.text
    assert "wrong password" not in wrong.text
    for password in ("", "x" * 1025):
        reply = page(visitor, language, "POST", data={"password": password})
        assert (reply.status_code, bool(fault_of(reply, "password"))) == (400, True)
    box = shared.share(kind="drop", drop={"requireName": True})
    unnamed = page(box, language, "POST", "/drop", data=b"x", **FILE)
    assert (unnamed.status_code, fault_of(unnamed, "uploadedBy")) == (400, texts["name_required"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_upload_is_confirmed_once(shared: Shared, language: str) -> None:
    browser, visitor = PageBrowser(shared.api, Accept_Language=language), shared.share(kind="drop")
    form: Any = {"file": (io.BytesIO(b"x"), "sent.txt")}
    sent = browser.open(f"/s/{visitor.secret}/drop?uploadedBy=Anna", form, Accept="text/html")
    assert browser.path == f"/s/{visitor.secret}/"
    assert TEXTS[language]["sent"] in sent.text
    assert 'value="Anna"' in sent.text
    again = browser.open(f"/s/{visitor.secret}/?uploadedBy=Anna", None, Accept="text/html")
    assert TEXTS[language]["sent"] not in again.text


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_a_page_for_anyone_sets_no_cookie(shared: Shared, kind: str) -> None:
    for password in (None, PASSWORD):
        assert "Set-Cookie" not in page(shared.share(kind=kind, password=password), "en").headers


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("text/html,application/xhtml+xml,*/*;q=0.8", "text/html; charset=utf-8"),
        ("*/*", "text/html; charset=utf-8"),
        ("application/json", "application/json"),
    ],
)
def test_an_error_is_a_page_or_json_as_the_client_accepts(
    shared: Shared, accept: str, content_type: str
) -> None:
    client = shared.api.app.test_client(use_cookies=False)
    for method, path in (("GET", ""), ("GET", "/"), ("GET", "/a"), ("POST", ""), ("POST", "/drop")):
        reply = client.open(f"/s/unknown{path}", method=method, headers={"Accept": accept})
        assert (reply.status_code, reply.headers["Content-Type"]) == (404, content_type), path
        assert reply.headers["Cache-Control"] == "private, no-store"


def test_both_forms_of_errors_are_documented(shared: Shared) -> None:
    document = shared.api.get("/openapi.json").json
    pages = [path for path in document["paths"] if path.startswith("/s/")]
    assert len(pages) == 4
    for path in pages:
        for operation in document["paths"][path].values():
            if isinstance(operation, dict) and "responses" in operation:
                assert set(operation["responses"]["404"]["content"]) == {"text/html", "application/json"}
    assert "Error" in document["components"]["schemas"]


def test_no_space_precedes_a_full_width_bracket(shared: Shared) -> None:
    text = text_of(page(shared.share(kind="drop"), "zh"))
    assert TEXTS["zh"]["your_name_optional"] in text
    assert not re.search(r"[\u4e00-\u9fff] \uff08", text)


def test_a_file_of_a_folder_is_shown_between_its_neighbours(shared: Shared) -> None:
    for name in ("a.png", "b & c.png", "d.bin"):
        shared.api.upload(
            shared.tenant, shared.maker, name, PNG if "png" in name else b"\0", shared.inside
        )
    visitor = shared.share()
    folder = text_of(page(visitor, "en", path="/Inside/"))
    assert f'href="/s/{visitor.secret}/Inside/?view=b%20%26%20c.png"' in folder
    assert "view=d.bin" not in folder
    shown = text_of(page(visitor, "en", path="/Inside/?view=b%20%26%20c.png"))
    steps = re.findall(r'id="(previous|following)" href="[^"]*view=([^"]*)"', shown)
    assert steps == [("previous", "a.png"), ("following", "dot.png")]
    assert "2 of 3" in shown
    text = page(visitor, "en", path="/?view=note.txt")
    assert "0123456789" in text.text
    for name in ("d.bin", "missing.png", "Inside", "../secret.txt"):
        assert page(visitor, "en", path=f"/Inside/?view={name}").status_code == 404, name


def test_a_page_shows_no_content_that_would_count_as_a_download(shared: Shared) -> None:
    for kind in ("read", "preview"):
        visitor = shared.share(kind=kind, maxDownloads=1)
        assert "view=" not in page(visitor, "en", path="/").text
        assert page(visitor, "en", path="/?view=note.txt").status_code == 404
        single = shared.share(shared.file, kind=kind, maxDownloads=1)
        assert "0123456789" not in page(single, "en", path="/").text


def test_a_page_names_who_shares(shared: Shared) -> None:
    assert shared.api.patch("/users/me", {"name": "<b>Lin"}, by=shared.maker).status_code == 200
    for kind in ALL_KINDS:
        shown = page(shared.share(kind=kind), "en").text
        assert "&lt;b&gt;Lin" in shown
        hidden = page(shared.share(kind=kind, password=PASSWORD), "en").text
        assert "Lin" not in hidden
