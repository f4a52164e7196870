"""Login by Feishu through the server: who enters, who does not, and what each refusal looks like."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

import pytest
from sqlalchemy import func, select
from tests.support.api import Answer, Api, error_code
from tests.support.config import Table, merged
from tests.support.databases import on_sqlite
from tests.support.feishu import CALLBACK, ROOT, decide, feishu_config
from tests.support.http import at_once

from strongroom.identity.users.models import users
from strongroom_simulators.feishu import Platform, Simulator
from strongroom_simulators.feishu.codes import Challenge
from strongroom_simulators.feishu.refusals import Refusal, TokenRefusal

REQUESTS = "/api/v1/feishu-authorization-requests"
AUTHORIZATIONS = "/api/v1/feishu-authorizations"
V3 = "/oauth/v3/token"
USER_INFO = "/open-apis/authen/v1/user_info"
APP_ID = "cli_00000000000000a1"


@pytest.fixture
def config_changes(feishu: Simulator) -> Table:
    return merged(feishu_config(feishu), {"server": {"public_url": ROOT}})


class Browser:
    """A browser of a front end, which keeps the cookies of the server."""

    def __init__(self, api: Api) -> None:
        self._client = api.app.test_client()

    def post(self, path: str, body: object) -> Answer:
        return Answer(self._client.post(path, json=body, base_url=ROOT))

    def begin(self, **body: str) -> dict[str, str]:
        answer = self.post(REQUESTS, body)
        assert answer.status_code == 201, answer.text
        begun: dict[str, str] = answer.json
        return begun

    def follow(self, query: dict[str, str]) -> Answer:
        """Follow the redirect of the platform."""
        path = f"{CALLBACK}?{urlencode(query)}"
        return Answer(self._client.get(path, base_url=ROOT, headers={"User-Agent": "Firefox"}))

    def log_in(self, person: str) -> Answer:
        query = decide(self.begin()["url"], person)
        return self.post(AUTHORIZATIONS, query)


@pytest.fixture
def browser(api: Api) -> Browser:
    return Browser(api)


def users_in(api: Api) -> int:
    """Return how many users there are."""
    with api.container.database.read() as connection:
        count: int = connection.execute(select(func.count()).select_from(users)).scalar_one()
    return count


def test_a_member_enters_and_is_the_same_user_again(browser: Browser) -> None:
    first = browser.log_in("lin")
    assert first.status_code == 200, first.text
    assert first.json["user"]["name"] == "林小雨"
    assert first.headers["X-Access-Token"] == first.json["accessToken"]
    assert browser.log_in("lin").json["user"]["id"] == first.json["user"]["id"]
    assert browser.log_in("wei").json["user"]["id"] != first.json["user"]["id"]


@on_sqlite
def test_the_request_tells_the_address_and_when_it_ends(browser: Browser) -> None:
    begun = browser.begin()
    assert set(begun) == {"url", "state", "app", "expiresAt"}
    assert begun["app"] == "main"
    assert f"state={begun['state']}" in begun["url"]
    assert "code_challenge_method=S256" in begun["url"]


@on_sqlite
def test_in_the_app_of_feishu_the_same_page_opens(browser: Browser, api: Api) -> None:
    begin = "/api/v1/feishu-authorizations/begin?app=main"
    for agent in ("Firefox", "Mozilla/5.0 Lark/7.1 LarkLocale/zh_CN", "Mozilla/5.0 Feishu/7.1"):
        page = api.app.test_client().get(begin, base_url=ROOT, headers={"User-Agent": agent})
        assert page.status_code == 302
        assert "/open-apis/authen/v1/authorize?" in page.headers["Location"]


@dataclass(frozen=True)
class Attempt:
    """What a test of a refusal may use."""

    browser: Browser
    api: Api
    vendor: Platform

    def back(self, person: str = "lin", decision: str = "confirm") -> dict[str, str]:
        return decide(self.browser.begin()["url"], person, decision)

    def send(self, query: dict[str, str]) -> Answer:
        return self.browser.post(AUTHORIZATIONS, query)


def _used(attempt: Attempt) -> Answer:
    query = attempt.back()
    again = {"code": query["code"], "state": attempt.browser.begin()["state"]}
    attempt.vendor.failures.plan_answer(V3, json.dumps(TokenRefusal(20065).members).encode(), status=400)
    return attempt.send(again)


def _late(attempt: Attempt) -> Answer:
    query = attempt.back()
    attempt.vendor.clock.advance(300)
    return attempt.send(query)


def _old_state(attempt: Attempt) -> Answer:
    query = attempt.back()
    attempt.api.clock.advance(600_000)
    return attempt.send(query)


def _other_browser(attempt: Attempt) -> Answer:
    query = attempt.back()
    return Browser(attempt.api).post(AUTHORIZATIONS, query)


def _other_login(attempt: Attempt) -> Answer:
    """A code of a login that another person has begun: its challenge is another one."""
    stolen = decide(Browser(attempt.api).begin()["url"], "lin")
    return attempt.send({**stolen, "state": attempt.browser.begin()["state"]})


def _without_challenge(attempt: Attempt) -> Answer:
    redirect = f"{ROOT}{CALLBACK}"
    code = attempt.vendor.authorize(APP_ID, "lin", redirect_uri=redirect)
    return attempt.send({"code": code, "state": attempt.browser.begin()["state"]})


def _other_challenge(attempt: Attempt) -> Answer:
    redirect = f"{ROOT}{CALLBACK}"
    challenge = Challenge("A" * 43, "S256")
    code = attempt.vendor.authorize(APP_ID, "lin", redirect_uri=redirect, challenge=challenge)
    return attempt.send({"code": code, "state": attempt.browser.begin()["state"]})


def _resigned(attempt: Attempt) -> Answer:
    query = attempt.back()
    attempt.vendor.leave("lin")
    return attempt.send(query)


def _without_right(attempt: Attempt) -> Answer:
    query = attempt.back()
    attempt.vendor.people["lin"].may_use = False
    return attempt.send(query)


def _new_secret(attempt: Attempt) -> Answer:
    query = attempt.back()
    attempt.vendor.apps[APP_ID].app_secret = "a-new-secret"
    return attempt.send(query)


def _disabled(attempt: Attempt) -> Answer:
    query = attempt.back()
    attempt.vendor.apps[APP_ID].is_enabled = False
    return attempt.send(query)


def _planned(path: str, body: bytes, status: int = 200) -> Callable[[Attempt], Answer]:
    def act(attempt: Attempt) -> Answer:
        query = attempt.back()
        attempt.vendor.failures.plan_answer(path, body, status=status)
        return attempt.send(query)

    return act


def _refusal(path: str, refusal: Refusal) -> Callable[[Attempt], Answer]:
    return _planned(path, json.dumps(refusal.members).encode(), refusal.status)


def _info(**data: object) -> Callable[[Attempt], Answer]:
    return _planned(USER_INFO, json.dumps({"code": 0, "data": data}).encode())


CODE_INVALID = (401, "error.feishu-code-invalid")
ANSWER_INVALID = (401, "error.feishu-answer-invalid")
NOT_MEMBER = (403, "error.feishu-not-member")
STATE = (400, "error.state-invalid")
VALIDATION = (400, "error.validation-failed")
UNAVAILABLE = (503, "error.unavailable")

REFUSALS: dict[str, tuple[Callable[[Attempt], Answer], tuple[int, str]]] = {
    "an outsider": (lambda attempt: attempt.send(attempt.back("eve")), NOT_MEMBER),
    "a person who has resigned": (_resigned, NOT_MEMBER),
    "a person without the right to the app": (_without_right, NOT_MEMBER),
    "a person of a company without a key": (_info(union_id="on_1", name="x"), UNAVAILABLE),
    "a person without a union id": (_info(tenant_key="736588c9260f175d"), UNAVAILABLE),
    "a company whose key begins like ours": (
        _info(tenant_key="736588c9260f175d0", union_id="on_1"),
        NOT_MEMBER,
    ),
    "an unknown code": (
        lambda attempt: attempt.send({"code": "x", "state": attempt.browser.begin()["state"]}),
        CODE_INVALID,
    ),
    "an empty code": (lambda attempt: attempt.send({**attempt.back(), "code": ""}), VALIDATION),
    "a code that is too long": (
        lambda attempt: attempt.send({**attempt.back(), "code": "x" * 2049}),
        VALIDATION,
    ),
    "a used code": (_used, (401, "error.feishu-code-used")),
    "a code after five minutes": (_late, (401, "error.feishu-code-expired")),
    "a code of another login": (_other_login, ANSWER_INVALID),
    "a code without a challenge": (_without_challenge, ANSWER_INVALID),
    "a code of another challenge": (_other_challenge, ANSWER_INVALID),
    "a state of another browser": (_other_browser, STATE),
    "a state after ten minutes": (_old_state, STATE),
    "an unknown state": (
        lambda attempt: attempt.send({**attempt.back(), "state": "feishuloginX" + "a" * 40}),
        STATE,
    ),
    "no state": (lambda attempt: attempt.send({"code": attempt.back()["code"]}), VALIDATION),
    "a token of the platform in place of a code": (
        lambda attempt: attempt.send({"accessToken": "u-x", **attempt.back()}),
        VALIDATION,
    ),
    "a wrong secret of the app": (_new_secret, UNAVAILABLE),
    "a disabled app": (_disabled, UNAVAILABLE),
    "an error of the platform": (_refusal(V3, TokenRefusal(20050)), UNAVAILABLE),
    "a platform that is not available": (_refusal(V3, TokenRefusal(20072)), UNAVAILABLE),
    "too many requests": (_refusal(USER_INFO, Refusal(99991400)), UNAVAILABLE),
    "a token that the platform refuses": (_refusal(USER_INFO, Refusal(99991668)), UNAVAILABLE),
    "an answer without a code": (_planned(V3, b'{"access_token":"u-x"}'), UNAVAILABLE),
    "an answer whose code is a text": (_planned(V3, b'{"code":"ok","access_token":"u"}'), UNAVAILABLE),
    "an answer that is no JSON": (_planned(V3, b"<html>"), UNAVAILABLE),
    "an empty answer": (_planned(V3, b""), UNAVAILABLE),
    "a list": (_planned(USER_INFO, b"[]"), UNAVAILABLE),
    "an answer that is too large": (_planned(USER_INFO, b'{"code":0,"x":"' + b"x" * 2**20), UNAVAILABLE),
    "a redirect of the platform": (_planned(V3, b"{}", 302), UNAVAILABLE),
}


@on_sqlite
@pytest.mark.parametrize(("act", "expected"), [*REFUSALS.values()], ids=REFUSALS)
def test_refusals_log_no_one_in(
    browser: Browser,
    api: Api,
    vendor: Platform,
    act: Callable[[Attempt], Answer],
    expected: tuple[int, str],
) -> None:
    answer = act(Attempt(browser, api, vendor))
    assert (answer.status_code, error_code(answer)) == expected
    assert "X-Access-Token" not in answer.headers
    assert users_in(api) == 0
    if answer.status_code == 503:
        assert answer.headers["Retry-After"]


@on_sqlite
def test_a_person_who_refuses_gets_the_code_of_that(browser: Browser) -> None:
    query = decide(browser.begin()["url"], "lin", "deny")
    assert error_code(browser.follow(query)) == "error.feishu-access-denied"


def test_of_32_uses_of_one_code_one_logs_in(browser: Browser) -> None:
    query = decide(browser.begin()["url"], "lin")
    statuses = at_once([lambda: browser.post(AUTHORIZATIONS, query).status_code] * 32)
    assert sorted(statuses) == [200, *[400] * 31]


@on_sqlite
def test_the_buttons_lead_to_the_page_and_back_with_a_session(browser: Browser, api: Api) -> None:
    client = api.app.test_client()
    page = client.get("/account/login", base_url=ROOT)
    assert "/api/v1/feishu-authorizations/begin?app=main" in page.get_data(as_text=True)
    url = client.get("/api/v1/feishu-authorizations/begin?app=main", base_url=ROOT).headers["Location"]
    query = decide(url, "lin")
    back = client.get(f"{CALLBACK}?{urlencode(query)}", base_url=ROOT)
    assert (back.status_code, back.headers["Location"]) == (303, "/account/")
    assert client.get("/account/", base_url=ROOT).status_code == 200
