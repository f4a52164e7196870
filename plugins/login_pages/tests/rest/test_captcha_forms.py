"""Each form that can have a captcha: the browser solves it, or without its script shows a picture."""

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

import pytest
from sqlalchemy import delete
from tests.support.api import PASSWORD, Api, Person
from tests.support.config import Table, write_api_config
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.platforms import FEW, choose, install_platforms, platforms_config
from tests.support.proofs_of_work import solve, work_in

from strongroom.builtin.image_captcha import DigitsCaptcha
from strongroom.identity.users.models import passwords
from strongroom.testing.clock import MINUTE

CONFIG: Table = {**platforms_config(*FEW), "captcha": {"provider": "image", "answer": None}}
EMAIL = "person@example.com"
CONNECTION = "connections/town_alpha"
TEMPLATES = files("strongroom_login_pages").joinpath("templates")


@pytest.fixture
def config(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    install_platforms(tmp_path)
    yield write_api_config(tmp_path, database_url, CONFIG)
    sys.modules.pop("acme_town", None)


@dataclass(frozen=True)
class Form:
    """A form with a captcha.

    Args:
        template: the template of its page.
        action: the path that it is sent to.
        prepare: brings the browser to the page.
        fields: what the user enters.
        after: the path of the page after the form.
    """

    template: str
    action: str
    prepare: Callable[["Visit"], None]
    after: str
    fields: dict[str, str] = field(default_factory=dict)


@dataclass
class Visit:
    """A browser, and the user in front of it."""

    api: Api
    browser: PageBrowser
    person: Person

    def log_in(self) -> None:
        self.browser.log_in(self.person.email)
        # A recipient gets a code a minute.
        self.api.clock.advance(MINUTE)

    def open(self, path: str) -> None:
        self.browser.open(f"/account/{path}")

    def forget_password(self) -> None:
        with self.api.container.database.write() as connection:
            connection.execute(delete(passwords))

    def solve(self, action: str, **fields: str) -> None:
        answer = solve(work_in(self.browser.page.text))
        self.browser.send(action, captchaAnswer=answer, **fields)


def fail_to_log_in(visit: Visit) -> None:
    visit.open("login")
    for _ in range(4):
        visit.browser.send("login", username=visit.person.email, password="Wrong1Horse")


def begin_login_by_code(visit: Visit) -> None:
    visit.open("login")
    visit.browser.send("login", username=visit.person.email, way="code")


def opened(path: str) -> Callable[[Visit], None]:
    return lambda visit: visit.open(path)


def own(path: str) -> Callable[[Visit], None]:
    def open_own(visit: Visit) -> None:
        visit.log_in()
        visit.open(path)

    return open_own


def without_password(path: str) -> Callable[[Visit], None]:
    def open_later(visit: Visit) -> None:
        visit.log_in()
        visit.forget_password()
        visit.api.clock.advance(10 * MINUTE)
        visit.open(path)

    return open_later


def begin_connection(visit: Visit) -> None:
    visit.log_in()
    choose(visit.browser, "alpha", "ann", purpose="bind")


def begin_removal(visit: Visit) -> None:
    begin_connection(visit)
    visit.solve(f"{CONNECTION}/code")
    visit.browser.send(CONNECTION, heldCode=visit.api.outbox()[-1]["code"])
    visit.api.clock.advance(MINUTE)
    visit.open(f"{CONNECTION}/removal")


NEW = {"name": "Ann", "username": "ann@example.com"}
FORMS = (
    Form("sign_in/login", "login", fail_to_log_in, "", {"username": EMAIL, "password": PASSWORD}),
    Form("sign_in/code_request", "login/code", begin_login_by_code, "login/code/entry"),
    Form("registration/register", "register", opened("register"), "register/code", NEW),
    Form("reset/forgot", "forgot", opened("forgot"), "reset", {"username": "ann@example.com"}),
    Form(
        "account/contact",
        "contacts/email/new-code",
        own("contacts/email"),
        "contacts/email",
        {"address": "ann@example.com"},
    ),
    Form(
        "account/contact",
        "contacts/email/current-code",
        without_password("contacts/email"),
        "contacts/email",
    ),
    Form(
        "account/contact_removal",
        "contacts/email/removal/code",
        own("contacts/email/removal"),
        "contacts/email/removal",
    ),
    Form("account/password", "password/code", without_password("password"), "password"),
    Form("account/connection", f"{CONNECTION}/code", begin_connection, CONNECTION),
    Form(
        "account/connection_removal",
        f"{CONNECTION}/removal/code",
        begin_removal,
        f"{CONNECTION}/removal",
    ),
)


@pytest.fixture
def visit(api: Api) -> Visit:
    return Visit(api, PageBrowser(api), api.person(email=EMAIL))


def test_each_template_with_a_captcha_is_tested() -> None:
    names = set()
    for folder in ("sign_in", "registration", "reset", "account"):
        for template in TEMPLATES.joinpath(folder).iterdir():
            if re.search(r"\bcaptcha\b", template.read_text("utf-8")):
                names.add(f"{folder}/{template.name.removesuffix('.html')}")
    assert names - {"account/proofs"} == {form.template for form in FORMS}


@on_sqlite
@pytest.mark.parametrize("form", FORMS, ids=[form.action for form in FORMS])
class TestForms:
    """What each of them does."""

    def test_the_browser_solves_it(self, visit: Visit, form: Form) -> None:
        form.prepare(visit)
        assert "data:image/png" not in visit.browser.page.text
        visit.solve(form.action, **form.fields)
        assert (visit.browser.path, visit.browser.page.status_code) == (f"/account/{form.after}", 200)

    def test_without_an_answer_the_browser_gets_a_picture(
        self, visit: Visit, form: Form, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        form.prepare(visit)
        before = len(visit.api.outbox())
        visit.browser.send(form.action, **form.fields)
        for _ in range(2):
            assert (visit.browser.page.status_code, len(visit.api.outbox())) == (400, before)
            assert 'src="data:image/png' in visit.browser.page.text
            visit.browser.send(form.action, captchaAnswer="wrong", **form.fields)
        monkeypatch.setattr(DigitsCaptcha, "verify", lambda *_: True)
        visit.browser.send(form.action, captchaAnswer="123456", **form.fields)
        assert (visit.browser.path, visit.browser.page.status_code) == (f"/account/{form.after}", 200)

    def test_the_button_for_a_picture_needs_no_other_field(self, visit: Visit, form: Form) -> None:
        form.prepare(visit)
        visit.browser.send(form.action, captchaKind="picture")
        assert visit.browser.message == "Answer the question below, too."
        assert 'src="data:image/png' in visit.browser.page.text

    def test_a_page_that_was_open_for_too_long_says_so(self, visit: Visit, form: Form) -> None:
        form.prepare(visit)
        answer = solve(work_in(visit.browser.page.text))
        visit.api.clock.advance(5 * MINUTE)
        visit.browser.send(form.action, captchaAnswer=answer, **form.fields)
        assert visit.browser.page.status_code == 400
        assert visit.browser.message in (
            "The page was open for too long. Send the form once more.",
            "Too many failed logins. Enter the password once more.",
        )
        visit.solve(form.action, **form.fields)
        assert (visit.browser.path, visit.browser.page.status_code) == (f"/account/{form.after}", 200)


@on_sqlite
def test_a_due_captcha_is_no_fault_of_the_name_or_the_password(visit: Visit) -> None:
    visit.open("login")
    visit.browser.send("login", username=EMAIL, password="Wrong1Horse")
    assert visit.browser.page.text.count('aria-invalid="true"') == 2
    fail_to_log_in(visit)
    assert "Too many failed logins" in visit.browser.message
    assert "aria-invalid" not in visit.browser.page.text
