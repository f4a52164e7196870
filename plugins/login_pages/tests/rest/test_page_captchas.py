"""Captchas of pages: solved by the browser, or a picture, and apart from captchas of the REST API."""

import hashlib
from collections.abc import Callable

import pytest
from tests.support.api import Api, Json, error_code
from tests.support.config import SMS_LOGIN, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.proofs_of_work import encode, solve, work_in

from strongroom.builtin.image_captcha import DigitsCaptcha
from strongroom.foundation.errors import CaptchaInvalid
from strongroom.identity.verification.captchas import CaptchaAnswer, CaptchaService, PageCaptcha
from strongroom.testing.clock import MINUTE

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


def get_answer(browser: PageBrowser) -> dict[str, str]:
    """Return the answer to the captcha of the page."""
    return {"captchaAnswer": solve(work_in(browser.page.text))}


@with_captcha("image")
class TestDefault:
    """The browser solves a proof of work; without scripts it gets a picture."""

    def test_the_browser_solves_it(self, api: Api, browser: PageBrowser) -> None:
        assert work_in(browser.page.text)["maxnumber"] == 100_000
        assert "data:image/png" not in browser.page.text
        browser.send("login/code", **get_answer(browser))
        assert (browser.path, len(api.outbox())) == (f"{FORM}/entry", 1)

    def test_a_solution_is_for_one_use(self, api: Api, browser: PageBrowser) -> None:
        fields = browser.forms[FORM] | get_answer(browser)
        browser.open(FORM, fields)
        api.clock.advance(61_000)
        browser.open(FORM, fields)
        assert (browser.page.status_code, len(api.outbox())) == (400, 1)

    def test_a_solution_expires(self, api: Api, browser: PageBrowser) -> None:
        answer = get_answer(browser)
        api.clock.advance(5 * MINUTE)
        browser.send("login/code", **answer)
        assert browser.message == "The page was open for too long. Send the form once more."
        browser.send("login/code", **get_answer(browser))
        assert browser.path == f"{FORM}/entry"

    def test_forged_solutions_are_refused(self, api: Api, browser: PageBrowser) -> None:
        forgeries: list[Callable[[Json], str]]
        easy = {"salt": "easy&", "challenge": hashlib.sha256(b"easy&0").hexdigest()}
        forgeries = [
            lambda work: encode(work, -1),
            lambda work: encode({**work, **easy}, 0),
            lambda work: encode({**work, **easy, "signature": "0" * 64}, 0),
            lambda work: encode({**work, "algorithm": "SHA-1"}, 0),
            lambda work: solve(work)[:-8],
            lambda work: "0" * 20_000,
        ]
        for forge in forgeries:
            browser.send("login/code", captchaAnswer=forge(work_in(browser.page.text)))
            assert (browser.page.status_code, api.outbox()) == (400, [])

    def test_the_solution_of_another_form_is_refused(self, api: Api, browser: PageBrowser) -> None:
        other = PageBrowser(api)
        other.open("/account/forgot")
        captcha = other.forms["/account/forgot"]["captcha"]
        browser.send("login/code", captcha=captcha, **get_answer(other))
        assert (browser.page.status_code, api.outbox()) == (400, [])
        # The challenge is still good for its own form.
        other.send("forgot", username=NUMBER, **get_answer(other))
        assert other.path == "/account/reset"

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
        captcha = {"id": browser.forms[FORM]["captcha"], "answer": solve(work_in(browser.page.text))}
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
        issued = captchas.issue(PageCaptcha(captchas.provider, "login_pages/login-code"))
        answer = CaptchaAnswer(
            captchas.page_row_id(issued.id, "login_pages/login-code"), solve(dict(issued.payload))
        )
        with pytest.raises(CaptchaInvalid):
            captchas.consume(answer, None)


@with_captcha("proof_of_work")
def test_the_rest_api_refuses_captchas_of_pages(api: Api, browser: PageBrowser) -> None:
    assert '<noscript><p role="alert">' in browser.page.text
    captcha = {"id": browser.forms[FORM]["captcha"], "answer": solve(work_in(browser.page.text))}
    body = {"recipient": NUMBER, "purpose": "login", "captcha": captcha}
    assert error_code(api.post("/verification-codes", body)) == "error.captcha-invalid"


@with_captcha("fixed")
def test_other_providers_stay(browser: PageBrowser) -> None:
    assert "What is the configured answer?" in browser.page.text
