"""The simulated platform checks what the real one checks."""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.feishu import (
    GLOBAL,
    TENANT,
    Platform,
    Simulator,
    Status,
    sample_app,
    sample_platform,
)
from strongroom_simulators.feishu.codes import Challenge
from strongroom_simulators.feishu.registry import CONTACT, EMAIL, EMPLOYMENT

REDIRECT = "http://127.0.0.1:8000/callback"
VERIFIER = "v" * 43
CHALLENGE = Challenge(
    urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode(), "S256"
)
V3 = "/oauth/v3/token"
V2 = "/open-apis/authen/v2/oauth/token"
USER_INFO = "/open-apis/authen/v1/user_info"
USERS = "/open-apis/contact/v3/users"


class Caller:
    """Calls the platform's interfaces as the sample app."""

    def __init__(self, platform: Platform, url: str) -> None:
        self.platform = platform
        self.app = next(iter(platform.apps.values()))
        self.url = url

    def code(self, person: str = "lin", **more: Any) -> str:
        further = {"redirect_uri": REDIRECT, "challenge": CHALLENGE, **more}
        return self.platform.authorize(self.app.app_id, person, **further)

    def token(self, path: str = V3, **changes: Any) -> requests.Response:
        body = {
            "grant_type": "authorization_code",
            "client_id": self.app.app_id,
            "client_secret": self.app.app_secret,
            "redirect_uri": REDIRECT,
            "code_verifier": VERIFIER,
            **changes,
        }
        present = {name: value for name, value in body.items() if value is not None}
        return requests.post(self.url + path, json=present, timeout=30)

    def user_info(self, token: str) -> requests.Response:
        headers = {"Authorization": f"Bearer {token}"}
        return requests.get(self.url + USER_INFO, headers=headers, timeout=30)

    def app_token(self) -> str:
        token: str = self.token(grant_type="client_credentials").json()["access_token"]
        return token

    def contact(self, person: str, token: str | None = None) -> Any:
        union_id = self.app.union_id(self.platform.people[person])
        headers = {"Authorization": f"Bearer {token or self.app_token()}"}
        url = f"{self.url}{USERS}/{union_id}?user_id_type=union_id"
        return requests.get(url, headers=headers, timeout=30).json()


@pytest.fixture(params=["cn"])
def caller(request: pytest.FixtureRequest) -> Iterator[Caller]:
    clock = AdjustableClock(lambda: 1_700_000_000.0)
    platform = sample_platform(sample_app(REDIRECT), clock=clock, region=request.param)
    with Simulator(platform) as simulator:
        yield Caller(platform, simulator.url)


in_lark = pytest.mark.parametrize("caller", [GLOBAL], indirect=True)


def code_of(response: requests.Response) -> int:
    code: int = response.json()["code"]
    return code


class TestPage:
    def page(self, caller: Caller, **changes: str) -> requests.Response:
        query = {
            "client_id": caller.app.app_id,
            "response_type": "code",
            "redirect_uri": REDIRECT,
            "state": "a-state",
            **changes,
        }
        return requests.get(f"{caller.url}/open-apis/authen/v1/authorize", params=query, timeout=30)

    def test_it_has_a_qr_code_and_the_people(self, caller: Caller) -> None:
        page = self.page(caller)
        assert page.status_code == 200
        assert "data:image/svg" in page.text
        assert all(person.name in page.text for person in caller.platform.people.values())

    def test_the_platforms_own_browser_shows_no_qr_code(self, caller: Caller) -> None:
        url = self.page(caller).url
        page = requests.get(url, headers={"User-Agent": "Mozilla/5.0 Lark/7.1"}, timeout=30)
        assert "data:image/svg" not in page.text

    @pytest.mark.parametrize(
        "changes",
        [
            {"client_id": "cli_other"},
            {"redirect_uri": f"{REDIRECT}/further"},
            {"response_type": "token"},
            {"code_challenge_method": "S512"},
            {"scope": "drive:drive"},
        ],
    )
    def test_wrong_parameters_are_refused(self, caller: Caller, changes: dict[str, str]) -> None:
        assert self.page(caller, **changes).status_code == 400

    @pytest.mark.parametrize(("decision", "member"), [("confirm", "code"), ("deny", "error")])
    def test_it_leads_back_with_the_state(self, caller: Caller, decision: str, member: str) -> None:
        form = {"person": "lin", "decision": decision}
        url = self.page(caller).url
        response = requests.post(url, data=form, allow_redirects=False, timeout=30)
        query = parse_qs(urlsplit(response.headers["Location"]).query)
        assert query["state"] == ["a-state"]
        assert set(query) == {"state", member}

    def test_a_person_without_the_right_gets_no_code(self, caller: Caller) -> None:
        caller.platform.people["lin"].may_use = False
        form = {"person": "lin", "decision": "confirm"}
        response = requests.post(self.page(caller).url, data=form, allow_redirects=False, timeout=30)
        assert response.status_code == 403


class TestCodes:
    def test_a_code_is_good_for_one_token_within_five_minutes(self, caller: Caller) -> None:
        code = caller.code()
        caller.platform.clock.advance(299)
        response = caller.token(code=code)
        assert (response.status_code, code_of(response)) == (200, 0)
        assert response.headers["X-Tt-Logid"]
        assert code_of(caller.token(code=code)) == 20065
        late = caller.code()
        caller.platform.clock.advance(300)
        assert code_of(caller.token(code=late)) == 20004

    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"code": "another"}, 20003),
            ({"code": None}, 20001),
            ({"client_id": "cli_other"}, 20048),
            ({"client_secret": "wrong"}, 20002),
            ({"client_secret": None}, 20001),
            ({"grant_type": "password"}, 20036),
            ({"redirect_uri": "http://127.0.0.1:8000/other"}, 20071),
            ({"code_verifier": "w" * 43}, 20049),
            ({"code_verifier": None}, 20049),
        ],
    )
    def test_wrong_requests_are_refused(
        self, caller: Caller, changes: dict[str, Any], code: int
    ) -> None:
        response = caller.token(**{"code": caller.code(), **changes})
        assert (response.status_code, code_of(response)) == (400, code)
        assert set(response.json()) == {"code", "error", "error_description"}

    def test_version_3_refuses_a_verifier_without_a_challenge(self, caller: Caller) -> None:
        assert code_of(caller.token(code=caller.code(challenge=None))) == 20049
        assert code_of(caller.token(code=caller.code(challenge=None), code_verifier=None)) == 0

    def test_version_2_ignores_a_verifier_without_a_challenge(self, caller: Caller) -> None:
        assert code_of(caller.token(V2, code=caller.code(challenge=None))) == 0

    def test_a_code_of_another_app_is_refused(self, caller: Caller) -> None:
        other = sample_app(REDIRECT)
        other.app_id = "cli_00000000000000a2"
        caller.platform.add_app(other)
        code = caller.platform.authorize(other.app_id, "lin", redirect_uri=REDIRECT)
        assert code_of(caller.token(code=code)) == 20024

    def test_two_authentications_of_the_app_are_refused(self, caller: Caller) -> None:
        basic = (caller.app.app_id, caller.app.app_secret)
        body = {"grant_type": "client_credentials", "client_secret": caller.app.app_secret}
        response = requests.post(caller.url + V3, json=body, auth=basic, timeout=30)
        assert code_of(response) == 20070

    def test_a_person_who_resigned_gets_no_token(self, caller: Caller) -> None:
        code = caller.code()
        caller.platform.leave("lin")
        assert code_of(caller.token(code=code)) == 20010

    @in_lark
    def test_lark_has_version_2_only(self, caller: Caller) -> None:
        assert caller.token(V3, code=caller.code()).status_code == 404
        assert code_of(caller.token(V2, code=caller.code())) == 0


class TestUserInfo:
    def info(self, caller: Caller, person: str = "lin", **more: str) -> dict[str, str]:
        token = caller.token(code=caller.code(person, **more)).json()["access_token"]
        data: dict[str, str] = caller.user_info(token).json()["data"]
        return data

    def test_optional_members_need_their_scopes(self, caller: Caller) -> None:
        assert "email" not in self.info(caller)
        caller.app.scopes.add(EMAIL)
        assert self.info(caller)["email"] == "lin@example.com"
        assert "email" not in self.info(caller, scope=EMPLOYMENT)

    def test_companies_differ_by_their_key(self, caller: Caller) -> None:
        lin, eve = self.info(caller), self.info(caller, "eve")
        assert lin["tenant_key"] == TENANT
        assert eve["tenant_key"] != TENANT
        assert lin["union_id"] != eve["union_id"]

    def test_tokens_end(self, caller: Caller) -> None:
        token = caller.token(code=caller.code()).json()["access_token"]
        assert code_of(caller.user_info("u-other")) == 99991668
        assert code_of(caller.user_info("")) == 99991661
        caller.platform.clock.advance(7200)
        assert code_of(caller.user_info(token)) == 99991677

    def test_requests_are_limited(self, caller: Caller) -> None:
        token = caller.token(code=caller.code()).json()["access_token"]
        for _ in range(1000):
            caller.platform.limit.hit((USER_INFO, caller.app.app_id))
        response = caller.user_info(token)
        assert (response.status_code, code_of(response)) == (400, 99991400)
        assert response.headers["x-ogw-ratelimit-reset"]


class TestContacts:
    @pytest.mark.parametrize(
        ("status", "member"),
        [
            (Status.ACTIVE, "is_activated"),
            (Status.FROZEN, "is_frozen"),
            (Status.EXITED, "is_exited"),
            (Status.RESIGNED, "is_resigned"),
        ],
    )
    def test_the_state_of_a_person_is_one_of_five(
        self, caller: Caller, status: Status, member: str
    ) -> None:
        caller.platform.leave("lin", status)
        states = caller.contact("lin")["data"]["user"]["status"]
        assert [name for name, value in states.items() if value] == [member]

    def test_the_state_needs_a_permission_of_its_own(self, caller: Caller) -> None:
        caller.app.scopes.remove(EMPLOYMENT)
        assert "status" not in caller.contact("lin")["data"]["user"]
        caller.app.scopes.remove(CONTACT)
        assert caller.contact("lin")["code"] == 99991672

    def test_people_outside_of_the_range_are_refused(self, caller: Caller) -> None:
        assert caller.contact("eve")["code"] == 41050
        caller.app.contacts = {"wei"}
        assert caller.contact("lin")["code"] == 41050
        assert caller.contact("wei")["code"] == 0

    def test_an_unknown_person_is_refused(self, caller: Caller) -> None:
        token = caller.app_token()
        caller.app.developer = "another-developer"
        union_id = caller.app.union_id(caller.platform.people["lin"])
        caller.app.developer = "sample-developer"
        headers = {"Authorization": f"Bearer {token}"}
        url = f"{caller.url}{USERS}/{union_id}"
        assert (
            code_of(requests.get(f"{url}?user_id_type=union_id", headers=headers, timeout=30)) == 41012
        )
        assert code_of(requests.get(f"{url}?user_id_type=email", headers=headers, timeout=30)) == 40001

    def test_an_app_gets_the_same_token_until_its_last_half_hour(self, caller: Caller) -> None:
        first = caller.app_token()
        caller.platform.clock.advance(5400)
        assert caller.app_token() == first
        caller.platform.clock.advance(1)
        assert caller.app_token() != first
        assert caller.contact("lin", first)["code"] == 0
        caller.platform.clock.advance(1799)
        refusal = caller.contact("lin", first)
        assert refusal["code"] == 99991663
        assert refusal["error"]["log_id"]

    def test_the_older_endpoint_answers_a_wrong_secret_with_200(self, caller: Caller) -> None:
        url = f"{caller.url}/open-apis/auth/v3/tenant_access_token/internal"
        wrong = {"app_id": caller.app.app_id, "app_secret": "wrong"}
        response = requests.post(url, json=wrong, timeout=30)
        assert (response.status_code, code_of(response)) == (200, 10014)
        right = {**wrong, "app_secret": caller.app.app_secret}
        assert requests.post(url, json=right, timeout=30).json()["expire"] == 7200


def test_controls_change_people_failures_and_the_clock(caller: Caller) -> None:
    def control(path: str, body: dict[str, Any]) -> Any:
        return requests.post(f"{caller.url}/simulator/{path}", json=body, timeout=30).json()

    control("people", {"person": "lin", "status": "resigned"})
    assert caller.platform.people["lin"].status is Status.RESIGNED
    control("failures", {"path": V3, "code": 20072})
    assert caller.token().status_code == 503
    before = caller.platform.clock()
    assert control("clock", {"advance": 60})["now"] >= before + 60
