"""Login by Alipay through the server: who enters, who does not, and what each refusal looks like."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

import pytest
from sqlalchemy import func, select
from tests.support.alipay import CALLBACK, ROOT, alipay_config, decide
from tests.support.api import Answer, Api, error_code
from tests.support.config import Table, merged
from tests.support.databases import on_sqlite
from tests.support.http import at_once

from strongroom.identity.users.models import users
from strongroom_simulators.alipay import KeyPair, Platform, Simulator, sample_app
from strongroom_simulators.alipay.refusals import (
    CALL_LIMITED,
    INVALID_APP_ID,
    INVALID_SIGNATURE,
    NO_PERMISSION,
    SERVICE_UNAVAILABLE,
    Kind,
)

REQUESTS = "/api/v1/alipay-authorization-requests"
AUTHORIZATIONS = "/api/v1/alipay-authorizations"
GATEWAY = "/gateway.do"
APP_ID = "2021000000000001"
TOKEN = "alipay_system_oauth_token_response"
GOOD = '{"access_token":"t","open_id":"good"}'
EVIL = '{"access_token":"t","open_id":"evil"}'


@pytest.fixture
def config_changes(simulator: Simulator, app_keys: KeyPair) -> Table:
    return merged(alipay_config(simulator, app_keys), {"server": {"public_url": ROOT}})


class Browser:
    """A browser of a front end, which keeps the cookies of the server."""

    def __init__(self, api: Api) -> None:
        self._client = api.app.test_client()

    def post(self, path: str, body: object) -> Answer:
        return Answer(self._client.post(path, json=body, base_url=ROOT))

    def begin(self) -> dict[str, str]:
        answer = self.post(REQUESTS, {})
        assert answer.status_code == 201, answer.text
        begun: dict[str, str] = answer.json
        return begun

    def back(self, person: str = "lin") -> dict[str, str]:
        """Let a person confirm; return the body for the server."""
        query = decide(self.begin()["url"], person)
        return {"code": query["auth_code"], "state": query["state"], "app_id": query["app_id"]}

    def send(self, body: dict[str, str]) -> Answer:
        return self.post(AUTHORIZATIONS, body)


@pytest.fixture
def browser(api: Api) -> Browser:
    return Browser(api)


def users_in(api: Api) -> int:
    """Return how many users there are."""
    with api.container.database.read() as connection:
        count: int = connection.execute(select(func.count()).select_from(users)).scalar_one()
    return count


@pytest.mark.parametrize("has_open_ids", [True, False])
def test_a_person_enters_and_is_the_same_user_again(
    browser: Browser, vendor: Platform, has_open_ids: bool
) -> None:
    vendor.apps[APP_ID].has_open_ids = has_open_ids
    first = browser.send(browser.back())
    assert first.status_code == 200, first.text
    assert first.json["user"]["name"] == "林小雨"
    assert browser.send(browser.back()).json["user"]["id"] == first.json["user"]["id"]
    assert browser.send(browser.back("ada")).json["user"]["id"] != first.json["user"]["id"]


@on_sqlite
def test_the_callback_passes_the_code_on_by_its_own_name(browser: Browser, api: Api) -> None:
    query = decide(browser.begin()["url"], "lin")
    answer = api.app.test_client().get(f"{CALLBACK}?{urlencode(query)}", base_url=ROOT).get_json()
    assert answer == {"code": query["auth_code"], "state": query["state"], "app_id": APP_ID}
    assert browser.send(answer).status_code == 200


@on_sqlite
def test_a_person_who_refuses_gets_the_code_of_that(browser: Browser, api: Api) -> None:
    query = decide(browser.begin()["url"], "lin", "deny")
    answer = api.get(f"{CALLBACK}?{urlencode(query)}")
    assert error_code(answer) == "error.alipay-access-denied"


@on_sqlite
def test_the_button_leads_to_the_page_and_back_with_a_session(api: Api) -> None:
    client = api.app.test_client()
    begin = "/api/v1/alipay-authorizations/begin?app=main"
    page = client.get("/account/login", base_url=ROOT).get_data(as_text=True)
    assert begin in page
    for agent in ("Firefox", "Mozilla/5.0 AlipayClient/10.5"):
        begun = client.get(begin, base_url=ROOT, headers={"User-Agent": agent})
        query = decide(begun.headers["Location"], "lin")
        back = client.get(f"{CALLBACK}?{urlencode(query)}", base_url=ROOT)
        assert (back.status_code, back.headers["Location"]) == (303, "/account/")


@dataclass(frozen=True)
class Attempt:
    """What a test of a refusal may use."""

    browser: Browser
    api: Api
    vendor: Platform


Act = Callable[[Attempt], Answer]


def _changed(**changes: str) -> Act:
    return lambda attempt: attempt.browser.send({**attempt.browser.back(), **changes})


def _without(name: str) -> Act:
    def act(attempt: Attempt) -> Answer:
        body = attempt.browser.back()
        del body[name]
        return attempt.browser.send(body)

    return act


def _after(change: Callable[[Attempt], object]) -> Act:
    def act(attempt: Attempt) -> Answer:
        body = attempt.browser.back()
        change(attempt)
        return attempt.browser.send(body)

    return act


def _used(attempt: Attempt) -> Answer:
    body = attempt.browser.back()
    attempt.vendor.spend_code(attempt.vendor.apps[APP_ID], body["code"])
    return attempt.browser.send(body)


def _of_another_app(attempt: Attempt) -> Answer:
    other = sample_app(KeyPair().public)
    other.app_id = "2021000000000002"
    attempt.vendor.add_app(other)
    code = attempt.vendor.authorize(other.app_id, "lin")
    return attempt.browser.send({**attempt.browser.back(), "code": code})


def _other_browser(attempt: Attempt) -> Answer:
    return Browser(attempt.api).send(attempt.browser.back())


def _answer(body: str | Callable[[KeyPair], str], status: int = 200) -> Act:
    def change(attempt: Attempt) -> None:
        text = body if isinstance(body, str) else body(attempt.vendor.keys)
        attempt.vendor.failures.plan_answer(GATEWAY, text.encode(), status=status)

    return _after(change)


def _refusal(kind: Kind) -> Act:
    return _answer(lambda keys: _signed(keys, "error_response", json.dumps(kind.members)))


def _signed(keys: KeyPair, name: str, content: str) -> str:
    return f'{{"{name}":{content},"sign":"{keys.sign(content.encode())}"}}'


CODE_INVALID = (401, "error.alipay-code-invalid")
ANSWER_INVALID = (401, "error.alipay-answer-invalid")
STATE = (400, "error.state-invalid")
VALIDATION = (400, "error.validation-failed")
UNAVAILABLE = (503, "error.unavailable")

REFUSALS: dict[str, tuple[Act, tuple[int, str]]] = {
    "an unknown code": (_changed(code="unknown"), CODE_INVALID),
    "a code with another parameter": (_changed(code="x&method=alipay.user.info.share"), CODE_INVALID),
    "a code that is not ASCII": (_changed(code="中文"), CODE_INVALID),
    "an empty code": (_changed(code=""), VALIDATION),
    "a code that is too long": (_changed(code="x" * 2049), VALIDATION),
    "no code": (_without("code"), VALIDATION),
    "no state": (_without("state"), VALIDATION),
    "an id in place of a code": (_changed(open_id="good"), VALIDATION),
    "a used code": (_used, CODE_INVALID),
    "a code after a day": (
        # The clock of the platform is ahead, too, so the gateway refuses the timestamp before.
        _after(lambda attempt: attempt.vendor.clock.advance(24 * 3600)),
        UNAVAILABLE,
    ),
    "a code of another app": (_of_another_app, CODE_INVALID),
    "a redirect of another app": (_changed(app_id="2021000000000002"), ANSWER_INVALID),
    "a state of another browser": (_other_browser, STATE),
    "a state after ten minutes": (_after(lambda attempt: attempt.api.clock.advance(600_000)), STATE),
    "an unknown state": (_changed(state="alipaylogin0" + "a" * 40), STATE),
    "no signature": (_answer(f'{{"{TOKEN}":{EVIL}}}'), ANSWER_INVALID),
    "a signature by another key": (_answer(lambda _: _signed(KeyPair(), TOKEN, EVIL)), UNAVAILABLE),
    "a signature of another content": (
        _answer(lambda keys: _signed(keys, TOKEN, GOOD).replace("good", "evil")),
        UNAVAILABLE,
    ),
    "two responses": (
        _answer(lambda keys: f'{{{_signed(keys, TOKEN, GOOD)[1:-1]},"{TOKEN}":{EVIL}}}'),
        ANSWER_INVALID,
    ),
    "a response of another method": (
        _answer(lambda keys: _signed(keys, "alipay_user_info_share_response", GOOD)),
        ANSWER_INVALID,
    ),
    "an answer that is no JSON": (_answer("<html>"), ANSWER_INVALID),
    "an empty answer": (_answer(""), ANSWER_INVALID),
    "an answer that is too large": (_answer('{"x":"' + "x" * 2**20), UNAVAILABLE),
    "a redirect of the gateway": (_answer("{}", 302), UNAVAILABLE),
    "an error of the gateway": (_answer("{}", 500), UNAVAILABLE),
    "a service that is not available": (_refusal(SERVICE_UNAVAILABLE), UNAVAILABLE),
    "too many requests": (_refusal(CALL_LIMITED), UNAVAILABLE),
    "a wrong app id": (_refusal(INVALID_APP_ID), UNAVAILABLE),
    "a wrong private key": (_refusal(INVALID_SIGNATURE), UNAVAILABLE),
    "an app without the right": (_refusal(NO_PERMISSION), UNAVAILABLE),
}


@on_sqlite
@pytest.mark.parametrize(("act", "expected"), [*REFUSALS.values()], ids=REFUSALS)
def test_refusals_log_no_one_in(
    browser: Browser, api: Api, vendor: Platform, act: Act, expected: tuple[int, str]
) -> None:
    answer = act(Attempt(browser, api, vendor))
    assert (answer.status_code, error_code(answer)) == expected
    assert "X-Access-Token" not in answer.headers
    assert users_in(api) == 0


def test_of_32_uses_of_one_code_one_logs_in(api: Api) -> None:
    browsers = [Browser(api) for _ in range(32)]
    first = browsers[0].back()
    states = [first["state"], *(browser.begin()["state"] for browser in browsers[1:])]

    def use(browser: Browser, state: str) -> int:
        return browser.send({**first, "state": state}).status_code

    uses = zip(browsers, states, strict=True)
    statuses = at_once([lambda pair=pair: use(*pair) for pair in uses])  # type: ignore[misc]
    assert sorted(statuses) == [200, *[401] * 31]
