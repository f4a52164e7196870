"""A captcha provider that does not respond: no answer counts as wrong, and no challenge is lost."""

import pytest
from tests.support.api import Api, error_code

from strongroom.builtin.fixed_captcha import FixedCaptcha
from strongroom.plugin_api.captcha import CaptchaUnavailable


def test_a_judge_that_is_away_is_503_and_the_puzzle_stays_good(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def away(provider: FixedCaptcha, state: str, answer: str) -> bool:
        raise CaptchaUnavailable("no answer within 3 s", retry_after=7)

    captcha = api.captcha()
    body = {"recipient": "a@example.com", "purpose": "register", "captcha": captcha}
    with monkeypatch.context() as patch:
        patch.setattr(FixedCaptcha, "verify", away)
        response = api.post("/verification-codes", body)
    assert (response.status_code, error_code(response)) == (503, "error.unavailable")
    assert response.headers["Retry-After"] == "7"
    assert "Captcha provider fixed is unavailable: no answer within 3 s" in caplog.text
    assert api.post("/verification-codes", body).status_code < 300


def test_a_judge_may_have_the_address_of_the_client(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str | None] = []

    def note(provider: FixedCaptcha, state: str, answer: str, client_address: str | None) -> bool:
        seen.append(client_address)
        return True

    monkeypatch.setattr(FixedCaptcha, "verify_from", note)
    captcha = api.captcha()
    api.post(
        "/verification-codes",
        {"recipient": "a@example.com", "purpose": "register", "captcha": captcha},
    )
    assert seen == ["127.0.0.1"]
