"""Captchas of pages: solved by the browser, or a picture, and apart from captchas of the REST API."""

import base64
import hashlib
import json
import re
from html import unescape

import pytest
from tests.support.api import Api, Json, error_code
from tests.support.config import SMS_LOGIN, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from strongroom.builtin.image_captcha import DigitsCaptcha
from strongroom.foundation.errors import CaptchaInvalid
from strongroom.identity.verification.captchas import CaptchaAnswer, CaptchaService

NUMBER = "13800138000"
FORM = "/account/login/code"
CONFIG: Table = merged(
    SMS_LOGIN,
    {"plugins": {"enabled": ["storage_local", "login_sms", "login_pages"]}},
)

pytestmark = on_sqlite


@pytest.fixture
def config_changes(request: pytest.FixtureRequest) -> Table:
    return {**CONFIG, "captcha": request.param}


def with_captcha(provider: str, pages_provider: str | None = None) -> pytest.MarkDecorator:
    captcha = {"provider": provider, "pages_provider": pages_provider}
    captcha["answer"] = "42" if provider == "fixed" else None
    return pytest.mark.parametrize("config_changes", [captcha], ids=[provider], indirect=True)


@pytest.fixture
def browser(api: Api) -> PageBrowser:
    browser = PageBrowser(api)
    browser.open("/account/login")
    browser.send("login", username=NUMBER, way="code")
    return browser


def solve(work: Json) -> str:
    """Solve a proof of work as the script does."""
    numbers = range(work["maxnumber"] + 1)
    number = next(
        number
        for number in numbers
        if hashlib.sha256(f"{work['salt']}{number}".encode()).hexdigest() == work["challenge"]
    )
    solution = {name: value for name, value in work.items() if name != "maxnumber"} | {"number": number}
    return base64.b64encode(json.dumps(solution).encode()).decode()


def work_of(browser: PageBrowser) -> Json:
    found = re.search(r'data-work="([^"]+)"', browser.page.text)
    assert found is not None
    work: Json = json.loads(unescape(found[1]))
    return work


def answer_of(browser: PageBrowser) -> dict[str, str]:
    """Return the answer to the captcha of the page."""
    return {"captchaAnswer": solve(work_of(browser))}


@with_captcha("image")
class TestDefault:
    """The browser solves a proof of work; without scripts it gets a picture."""

    def test_the_browser_solves_it(self, api: Api, browser: PageBrowser) -> None:
        assert work_of(browser)["maxnumber"] == 100_000
        assert "data:image/png" not in browser.page.text
        browser.send("login/code", **answer_of(browser))
        assert (browser.path, len(api.outbox())) == (f"{FORM}/entry", 1)

    def test_a_solution_is_for_one_use(self, api: Api, browser: PageBrowser) -> None:
        fields = browser.forms[FORM] | answer_of(browser)
        browser.open(FORM, fields)
        api.clock.advance(61_000)
        browser.open(FORM, fields)
        assert (browser.page.status_code, len(api.outbox())) == (400, 1)

    def test_without_scripts_the_form_leads_to_a_picture(
        self, api: Api, browser: PageBrowser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        browser.send("login/code", captchaAnswer="")
        assert browser.message == "Answer the question below, too."
        assert 'src="data:image/png' in browser.page.text
        browser.send("login/code", captchaAnswer="wrong")
        assert browser.message == "The answer was wrong. Try the new one."
        assert 'src="data:image/png' in browser.page.text
        monkeypatch.setattr(DigitsCaptcha, "verify", lambda *_: True)
        browser.send("login/code", captchaAnswer="123456")
        assert (browser.path, len(api.outbox())) == (f"{FORM}/entry", 1)

    def test_the_rest_api_demands_a_picture(self, api: Api, browser: PageBrowser) -> None:
        assert api.post("/captchas", {}).json["kind"] == "image"
        captcha = {"id": browser.forms[FORM]["captcha"], "answer": solve(work_of(browser))}
        body = {"recipient": NUMBER, "purpose": "login", "captcha": captcha}
        assert error_code(api.post("/verification-codes", body)) == "error.captcha-invalid"
        # The challenge is still good for the form of the page.
        browser.send("login/code", captchaAnswer=captcha["answer"])
        assert browser.path == f"{FORM}/entry"


@with_captcha("image", "image")
def test_the_operator_can_demand_pictures_of_pages(api: Api, browser: PageBrowser) -> None:
    assert 'src="data:image/png' in browser.page.text
    assert "data-work" not in browser.page.text
    browser.send("login/code", captchaAnswer="1", captchaKind="proof_of_work")
    assert 'src="data:image/png' in browser.page.text
    assert api.outbox() == []


@with_captcha("proof_of_work", "image")
class TestStricterPages:
    """Pages demand pictures although the REST API takes proofs of work."""

    def test_a_proof_of_the_rest_api_is_refused(self, api: Api, browser: PageBrowser) -> None:
        issued = api.post("/captchas", {}).json
        work = {name: value for name, value in issued.items() if name not in ("id", "kind", "expiresAt")}
        browser.send("login/code", captcha=issued["id"], captchaAnswer=solve(work))
        assert (browser.page.status_code, api.outbox()) == (400, [])

    def test_a_proof_of_a_page_from_before_the_change_is_refused(self, api: Api) -> None:
        captchas = api.container.get(CaptchaService)
        issued = captchas.issue(captchas.provider)
        answer = CaptchaAnswer(captchas.page_row_id(issued.id), solve(dict(issued.payload)))
        with pytest.raises(CaptchaInvalid):
            captchas.consume(answer, None)


@with_captcha("proof_of_work")
def test_the_rest_api_refuses_captchas_of_pages(api: Api, browser: PageBrowser) -> None:
    assert '<noscript><p role="alert">' in browser.page.text
    captcha = {"id": browser.forms[FORM]["captcha"], "answer": solve(work_of(browser))}
    body = {"recipient": NUMBER, "purpose": "login", "captcha": captcha}
    assert error_code(api.post("/verification-codes", body)) == "error.captcha-invalid"


@with_captcha("fixed")
def test_other_providers_stay(browser: PageBrowser) -> None:
    assert "What is the configured answer?" in browser.page.text
