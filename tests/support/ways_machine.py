"""A state machine of two browsers that take the ways of the login pages in any order."""

import re
from collections import Counter
from itertools import count
from typing import Final
from urllib.parse import urlsplit

import pyotp
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from sqlalchemy import func, select

from strongroom.identity.users.models import passwords, users
from strongroom.testing.clock import MINUTE
from tests.support.api import PASSWORD, Api, Person
from tests.support.login_tabs import Attempt, Tab
from tests.support.page_browser import PageBrowser
from tests.support.totp import wrong_code

TERMS: Final = "2026-11"
"""The version of the terms that the server must have."""

PLAIN, FACTORED = NAMES = ("Plain", "Factored")
CONTACTS: Final = {
    PLAIN: ("plain@example.com", "13800138000"),
    FACTORED: ("factored@example.com", "13900139000"),
}
OWNERS: Final = {contact: name for name, contacts in CONTACTS.items() for contact in contacts}
PATHS: Final = [
    *("login", "login/code", "login/code/entry", "challenge", "enrolment", "", "step-up"),
    *("forgot", "reset", "register", "register/code", "terms"),
]
LOGIN, RESET, REGISTER = "login", "reset", "register"

known_contacts = st.sampled_from(sorted(OWNERS))
contacts = known_contacts | st.sampled_from(["new e-mail address", "new number"])
# One browser does most, so that it comes to the end of more ways.
browsers = st.sampled_from([0, 0, 0, 1])
ages = st.integers(0, 4)


class WaysMachine(RuleBasedStateMachine):
    """Two browsers take ways in any order, with right, wrong and swapped proofs, and stale forms.

    The model is an upper bound: who may be logged in, whose password may change, and whether an account
    may begin, by what the browser has proved since it has taken its way.
    """

    api: Api
    admin: Person
    ids: dict[str, str]
    words: dict[str, str]
    secret: str
    outcomes: Counter[str]
    numbers = count(1)

    def __init__(self) -> None:
        super().__init__()
        self.tabs = [Tab(PageBrowser(self.api)) for _ in range(2)]
        for tab in self.tabs:
            tab.open("login")
        self.codes: list[tuple[str, str | None]] = [("000000", None)]
        self.links: list[tuple[str, str]] = []
        self.allow()
        self.before = self.stored()

    def allow(
        self, *, login: str | None = None, password: tuple[str, str] | None = None, account: bool = False
    ) -> None:
        """Note what the next form may do: log in a user, set a password, or make an account."""
        self.login, self.password, self.account = login, password, account

    def stored(self) -> tuple[dict[str, str], int]:
        """Return the hashes of passwords by user, and the number of users."""
        with self.api.container.database.read() as connection:
            rows = connection.execute(select(passwords.c.user_id, passwords.c.hash))
            hashes = {str(user_id): str(text) for user_id, text in rows}
            return hashes, connection.execute(select(func.count()).select_from(users)).scalar_one()

    def post(self, tab: Tab, path: str, **fields: str) -> None:
        self.acting = tab
        tab.send(path, fields, tab.secrets[-1])

    def proved(self, tab: Tab, who: str) -> None:
        """Note the first proof of a user, or of a contact without one."""
        tab.attempt = Attempt(first=who)
        self.allow(login=who if who == PLAIN else None)

    def sent(self, tab: Tab, before: int) -> None:
        """Note the code that a form has sent, if any."""
        messages = self.api.outbox()
        if len(messages) > before:
            link = re.search(r"https?://\S+/account/(l/\S+)", messages[-1]["text"])
            tab.attempt.code = (messages[-1]["code"], link[1] if link else None)
            self.codes.append(tab.attempt.code)

    def contact(self, kind: str) -> str:
        """Return a contact of a user, or a new one."""
        if kind in OWNERS:
            return kind
        number = next(self.numbers)
        return f"137{number:08}" if "number" in kind else f"new{number}@example.com"

    @rule(index=browsers, contact=known_contacts, is_right=st.booleans())
    def send_password(self, index: int, contact: str, is_right: bool) -> None:
        tab, name = self.tabs[index], OWNERS[contact]
        tab.begin(Attempt())
        if is_right:
            self.proved(tab, name)
        password = self.words[name] if is_right else "Wrong1Horse"
        self.post(tab, "login", username=contact, password=password)

    @rule(index=browsers, kind=contacts)
    def choose_code(self, index: int, kind: str) -> None:
        tab, contact = self.tabs[index], self.contact(kind)
        tab.begin(Attempt(LOGIN, contact))
        self.post(tab, "login", username=contact, way="code")

    @rule(index=browsers)
    def have_code_sent(self, index: int) -> None:
        self.send_code(self.tabs[index], "login/code")

    def send_code(self, tab: Tab, path: str, **fields: str) -> None:
        self.api.clock.advance(MINUTE)
        captcha, before = self.api.page_captcha(path)["id"], len(self.api.outbox())
        self.post(tab, path, captcha=captcha, captchaAnswer="42", **fields)
        self.sent(tab, before)

    @rule(index=browsers, kind=contacts)
    def forget_password(self, index: int, kind: str) -> None:
        tab, contact = self.tabs[index], self.contact(kind)
        tab.begin(Attempt(RESET, contact))
        self.send_code(tab, "forgot", username=contact)

    @rule(index=browsers, kind=contacts, is_ticked=st.booleans())
    def begin_registration(self, index: int, kind: str, is_ticked: bool) -> None:
        tab, contact = self.tabs[index], self.contact(kind)
        if is_ticked:
            # Without the box the form is refused, and the attempt stays as it is.
            tab.begin(Attempt(REGISTER, contact, has_terms=True))
        terms = {"terms": TERMS} if is_ticked else {}
        self.send_code(tab, "register", username=contact, name=contact, **terms)

    @rule(index=browsers, age=ages)
    def enter_login_code(self, index: int, age: int) -> None:
        tab, (code, _) = self.tabs[index], self.code_of(age)
        self.prove_contact(tab, tab.attempt.code is not None and code == tab.attempt.code[0])
        self.post(tab, "login/code/entry", code=code)

    @rule(index=browsers, age=ages)
    def use_link(self, index: int, age: int) -> None:
        tab, (_, link) = self.tabs[index], self.code_of(age)
        if link is not None:
            self.prove_contact(tab, tab.attempt.code is not None and link == tab.attempt.code[1])
            self.post(tab, link)

    def code_of(self, age: int) -> tuple[str, str | None]:
        """Return a code that was sent to any browser."""
        return self.codes[-1 - age % len(self.codes)]

    def prove_contact(self, tab: Tab, is_right: bool) -> None:
        if is_right and tab.attempt.purpose == LOGIN:
            recipient = tab.attempt.recipient
            self.proved(tab, OWNERS.get(recipient, recipient))

    @rule(index=browsers, age=ages)
    def reset_password(self, index: int, age: int) -> None:
        tab, (code, _), word = self.tabs[index], self.code_of(age), self.new_word()
        attempt = tab.attempt
        if attempt.purpose == RESET and attempt.code is not None and code == attempt.code[0]:
            self.allow(password=(OWNERS[attempt.recipient], word))
        self.post(tab, "reset", code=code, newPassword=word)

    @rule(index=browsers, age=ages)
    def register(self, index: int, age: int) -> None:
        tab, (code, _) = self.tabs[index], self.code_of(age)
        attempt = tab.attempt
        is_right = attempt.code is not None and code == attempt.code[0]
        if attempt.purpose == REGISTER and is_right and attempt.recipient not in OWNERS:
            self.allow(login=attempt.recipient, account=attempt.has_terms)
        self.post(tab, "register/code", code=code, newPassword=PASSWORD)

    @rule(index=browsers, is_ticked=st.booleans())
    def answer_terms(self, index: int, is_ticked: bool) -> None:
        tab, first = self.tabs[index], self.tabs[index].attempt.first
        if is_ticked and first is not None and first not in NAMES:
            self.allow(login=first, account=True)
        self.post(tab, "terms", **({"terms": TERMS} if is_ticked else {}))

    @rule(index=browsers, is_right=st.booleans())
    def answer_challenge(self, index: int, is_right: bool) -> None:
        tab = self.tabs[index]
        self.api.clock.advance(MINUTE // 2)
        now = self.api.clock.now()
        right = pyotp.TOTP(self.secret).generate_otp(now // 30_000)
        if is_right and tab.attempt.first == FACTORED:
            self.allow(login=FACTORED)
        self.post(tab, "challenge", totp=right if is_right else wrong_code(self.secret, now / 1000))

    @rule(name=st.sampled_from(NAMES))
    def issue_link(self, name: str) -> None:
        token = self.api.log_in(self.admin.email).headers["X-Access-Token"]
        admin = Person(self.admin.id, self.admin.email, token)
        body = {"kind": "reset", "send": False}
        answer = self.api.post(f"/users/{self.ids[name]}/links", body, by=admin)
        assert answer.status_code == 201, answer.text
        self.links.append((name, urlsplit(answer.json["url"]).path.removeprefix("/account/")))

    @rule(index=browsers, age=ages)
    def redeem_link(self, index: int, age: int) -> None:
        tab, word = self.tabs[index], self.new_word()
        if self.links:
            position = len(self.links) - 1 - age % len(self.links)
            name, path = self.links[position]
            # The last link of a user, and once.
            if name not in [other for other, _ in self.links[position + 1 :]]:
                self.allow(password=(name, word))
            self.post(tab, path, newPassword=word)

    def new_word(self) -> str:
        return f"Another{next(self.numbers)}Horse"

    @rule(index=browsers)
    def take_another_way(self, index: int) -> None:
        self.tabs[index].begin(Attempt())
        self.post(self.tabs[index], "another-way")

    @rule(index=browsers, path=st.sampled_from(PATHS))
    def open_page(self, index: int, path: str) -> None:
        self.tabs[index].open(path)

    @rule(index=browsers)
    def go_on(self, index: int) -> None:
        """Take the next right step, which the other rules seldom do."""
        attempt = self.tabs[index].attempt
        self.step(index, attempt)
        if attempt.purpose == LOGIN and attempt.code is None:
            self.have_code_sent(index=index)

    @rule(index=browsers, source=browsers)
    def finish_the_former_way(self, index: int, source: int) -> None:
        """Send the proof that was right before a browser took another way."""
        self.step(index, self.tabs[source].former)

    def step(self, index: int, attempt: Attempt) -> None:
        if attempt.first == FACTORED:
            self.answer_challenge(index=index, is_right=True)
        elif attempt.first is not None:
            self.answer_terms(index=index, is_ticked=True)
        elif attempt.code is not None:
            enter = {LOGIN: self.enter_login_code, RESET: self.reset_password, REGISTER: self.register}
            enter[attempt.purpose](index=index, age=self.codes[::-1].index(attempt.code))

    @rule(index=browsers)
    def go_on_by_link(self, index: int) -> None:
        code = self.tabs[index].attempt.code
        if code is not None and code[1] is not None:
            self.use_link(index=index, age=self.codes[::-1].index(code))
        else:
            self.go_on(index=index)

    @rule(index=browsers, age=ages, path=st.sampled_from(PATHS), is_own=st.booleans())
    def send_with_secret_of_then(self, index: int, age: int, path: str, is_own: bool) -> None:
        tab, (code, _) = self.tabs[index], self.code_of(0)
        source = tab if is_own else self.tabs[1 - index]
        secret = source.secrets[-1 - age % len(source.secrets)]
        if secret != tab.secrets[-1]:
            fields = {"username": CONTACTS[PLAIN][0], "password": self.words[PLAIN], "terms": TERMS}
            tab.send(path, {**fields, "code": code, "newPassword": self.new_word()}, secret)

    @invariant()
    def only_the_proved_happens(self) -> None:
        self.check_passwords()
        self.check_logins()
        self.allow()

    def check_logins(self) -> None:
        for tab in self.tabs:
            if tab.browser.is_logged_in:
                page = tab.browser.open("/account/login").text
                (shown,) = re.findall("<bdi>([^<]+)</bdi>", page)[:1]
                assert self.login is not None, f"{shown} is logged in"
                assert self.is_name_of(shown, self.login)
                assert tab is self.acting
                self.outcomes[self.login if self.login in NAMES else "new"] += 1
                self.leave(tab)

    def is_name_of(self, shown: str, who: str) -> bool:
        """Return whether a page shows the name of a user, or the contact of a new one."""
        return shown in (who, f"+86{who}")

    def check_passwords(self) -> None:
        hashes, users_count = self.stored()
        former, former_count = self.before
        assert users_count - former_count in ({0, 1} if self.account else {0})
        changed = {user_id for user_id, text in former.items() if hashes.get(user_id) != text}
        if changed:
            assert self.password is not None, "a password has changed"
            name, word = self.password
            assert changed == {self.ids[name]}
            self.words[name] = word
            self.acting.attempt = Attempt()
            self.outcomes["password"] += 1
        self.before = (hashes, users_count)

    def leave(self, tab: Tab) -> None:
        tab.open("")
        tab.send("logout", {}, tab.secrets[-1])
        tab.attempt = Attempt()
