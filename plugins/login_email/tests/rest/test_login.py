"""Passwordless login: an e-mail address and a code sent to it."""

import pytest
from tests.support.api import Api, error_code
from tests.support.config import Table

ADDRESS = "alice@example.com"
EMAIL_LOGIN: Table = {
    "plugins": {"enabled": ["storage_local", "login_email"]},
    "login": {"methods": ["password", "email_code"]},
}

pytestmark = pytest.mark.config(EMAIL_LOGIN)


def test_a_code_logs_in_and_registers_new_users(api: Api) -> None:
    first = api.log_in(ADDRESS, None, verificationCode=api.code(ADDRESS, "login"))
    assert first.status_code == 200
    api.clock.advance(60_000)
    again = api.log_in("Alice@EXAMPLE.com", None, verificationCode=api.code(ADDRESS, "login"))
    assert again.json["user"]["id"] == first.json["user"]["id"]


def test_a_code_logs_in_the_user_who_has_the_address(api: Api) -> None:
    person = api.person(email=ADDRESS)
    response = api.log_in(ADDRESS, None, verificationCode=api.code(ADDRESS, "login"))
    assert response.json["user"]["id"] == person.id


def test_a_code_logs_in_once(api: Api) -> None:
    code = api.code(ADDRESS, "login")
    assert api.log_in(ADDRESS, None, verificationCode=code).status_code == 200
    response = api.log_in(ADDRESS, None, verificationCode=code)
    assert (response.status_code, error_code(response)) == (401, "error.invalid-credentials")


@pytest.mark.parametrize("purpose", ["register", "bind", "unbind", "reset-password"])
def test_a_code_of_another_purpose_does_not_log_in(api: Api, purpose: str) -> None:
    api.person(email=ADDRESS)
    response = api.log_in(ADDRESS, None, verificationCode=api.code(ADDRESS, purpose))
    assert (response.status_code, error_code(response)) == (401, "error.invalid-credentials")


def test_the_code_of_another_address_does_not_log_in(api: Api) -> None:
    code = api.code("mallory@example.com", "login")
    response = api.log_in(ADDRESS, None, verificationCode=code)
    assert error_code(response) == "error.invalid-credentials"


def test_a_new_code_of_a_device_makes_the_former_one_invalid(api: Api) -> None:
    api.person(email=ADDRESS)
    former = api.code(ADDRESS, "login", device="phone")
    api.clock.advance(60_000)
    other = api.code(ADDRESS, "login", device="tablet")
    api.clock.advance(60_000)
    newest = api.code(ADDRESS, "login", device="phone")
    answers = [api.log_in(ADDRESS, None, verificationCode=code) for code in (former, newest, other)]
    assert [answer.status_code for answer in answers] == [401, 200, 200]


SPELLINGS = [
    "alice\uff20example.com",
    "\uff21lice@example.com",
    " alice@example.com ",
    "ALICE@Example.COM",
]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_code_goes_to_the_address_that_is_stored(api: Api, spelling: str) -> None:
    person = api.person(email=ADDRESS)
    code = api.code(spelling, "login")
    assert api.outbox()[-1]["recipient"] == ADDRESS
    response = api.log_in(spelling, None, verificationCode=code)
    assert response.json["user"]["id"] == person.id


@pytest.mark.parametrize(
    "several",
    [
        "alice@example.com,mallory@example.org",
        "alice@example.com;mallory@example.org",
        "mallory@example.org,alice@example.com",
        "alice@example.com\uff0cmallory@example.org",
        "alice@example.com@example.org",
        "alice\uff20example.com@example.org",
        "alice@example.com mallory@example.org",
        "Alice <alice@example.com>",
        "alice@example.com\r\nBcc: mallory@example.org",
    ],
)
def test_no_code_goes_to_several_addresses(api: Api, several: str) -> None:
    api.person(email=ADDRESS)
    response = api.request_code(several, "login")
    assert (response.status_code, error_code(response)) == (400, "error.validation-failed")
    assert api.outbox() == []


class TestWithoutRegistration:
    """Servers on which no login creates a user."""

    @pytest.fixture(params=["closed", "invited", "option"])
    def config_changes(self, request: pytest.FixtureRequest) -> Table:
        if request.param == "option":
            return {**EMAIL_LOGIN, "login": {**EMAIL_LOGIN["login"], "email_code": {"register": False}}}
        return {**EMAIL_LOGIN, "users": {"registration": request.param}}

    def test_an_address_without_a_user_gets_the_same_response_and_no_message(self, api: Api) -> None:
        api.person(email=ADDRESS)
        known, unknown = (
            api.request_code(name, "login", headers={"X-Device-Id": name})
            for name in (ADDRESS, "other@example.com")
        )
        assert (known.status_code, known.json.keys()) == (unknown.status_code, unknown.json.keys())
        assert [message["recipient"] for message in api.outbox()] == [ADDRESS]
        guess = {"id": unknown.json["id"], "code": "000000"}
        response = api.log_in("other@example.com", None, verificationCode=guess)
        assert error_code(response) == "error.invalid-credentials"
