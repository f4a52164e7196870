"""The profile `off` of the limits, at the API."""

import pytest
from tests.support.api import Api, error_code
from tests.support.config import FIXED_CAPTCHA, merged

REGISTRATIONS_PER_HOUR = 30
FREE_FAILURES = 3


pytestmark = pytest.mark.config(merged(FIXED_CAPTCHA, {"limits": {"profile": "off"}}))


def test_registrations_of_an_address_are_not_limited(api: Api) -> None:
    statuses = {api.post("/users", {}).status_code for _ in range(REGISTRATIONS_PER_HOUR + 1)}
    assert statuses == {400}


def test_failed_logins_still_require_a_captcha(api: Api) -> None:
    body = {"username": "alice@example.com", "password": "Wrong1Password"}
    codes = [error_code(api.post("/authorizations", body)) for _ in range(FREE_FAILURES + 1)]
    assert codes[-1] == "error.captcha-required"
    assert "error.captcha-required" not in codes[:-1]
