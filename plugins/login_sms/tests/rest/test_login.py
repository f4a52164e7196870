"""Passwordless login: a mobile number and a code sent to it."""

import pytest
from tests.support.api import Api, error_code
from tests.support.config import SMS_LOGIN

NUMBER = "13800138000"


pytestmark = pytest.mark.config(SMS_LOGIN)


@pytest.mark.rule("5 login 1", "4.2 login registers")
def test_a_code_logs_in_and_registers_new_users(api: Api) -> None:
    response = api.log_in(NUMBER, None, verificationCode=api.code(NUMBER, "login"))
    assert response.status_code == 200
    again = api.log_in("+86 138-0013-8000", None, verificationCode=_next_code(api))
    assert again.json["user"]["id"] == response.json["user"]["id"]


def test_an_empty_password_with_a_code_is_ignored(api: Api) -> None:
    assert api.log_in(NUMBER, "", verificationCode=api.code(NUMBER, "login")).status_code == 200


def test_a_code_logs_in_once(api: Api) -> None:
    code = api.code(NUMBER, "login")
    assert api.log_in(NUMBER, None, verificationCode=code).status_code == 200
    response = api.log_in(NUMBER, None, verificationCode=code)
    assert (response.status_code, error_code(response)) == (401, "error.invalid-credentials")


@pytest.mark.parametrize("purpose", ["register", "bind", "unbind"])
def test_a_code_of_another_purpose_does_not_log_in(api: Api, purpose: str) -> None:
    response = api.log_in(NUMBER, None, verificationCode=api.code(NUMBER, purpose))
    assert (response.status_code, error_code(response)) == (401, "error.invalid-credentials")


def test_the_code_of_another_number_does_not_log_in(api: Api) -> None:
    code = api.code("13900139000", "login")
    response = api.log_in(NUMBER, None, verificationCode=code)
    assert error_code(response) == "error.invalid-credentials"


@pytest.mark.rule("4.2 login captcha skipped")
def test_a_login_by_code_needs_no_captcha_of_its_own(api: Api) -> None:
    person = api.person(mobile=NUMBER)
    for _ in range(3):
        api.log_in(NUMBER, "Wrong1Password")
    assert error_code(api.log_in(NUMBER)) == "error.captcha-required"
    response = api.log_in(NUMBER, None, verificationCode=api.code(NUMBER, "login"))
    assert response.json["user"]["id"] == person.id


def test_a_login_by_code_clears_the_failed_passwords_of_all_names(api: Api) -> None:
    person = api.person(mobile=NUMBER)
    for name in (NUMBER, person.email):
        for _ in range(4):
            api.log_in(name, "Wrong1Password")
        assert error_code(api.log_in(name)) == "error.captcha-required"
    assert api.log_in(NUMBER, None, verificationCode=api.code(NUMBER, "login")).status_code == 200
    assert [api.log_in(name).status_code for name in (NUMBER, person.email)] == [200, 200]


def _next_code(api: Api) -> dict[str, str]:
    # A minute must pass between two codes to one recipient.
    api.clock.advance(60_000)
    return api.code(NUMBER, "login")
