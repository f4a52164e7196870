"""A login code is valid once, for a minute, and with the verifier of its challenge only."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from strongroom.plugin_api.deactivation import Deactivation, DeactivationCause
from strongroom.testing.state import OpenedPlugin, opened_plugin
from strongroom_login_pages.front_ends.codes import LIFETIME, LoginCodes, challenge_of
from strongroom_login_pages.front_ends.models import codes
from strongroom_login_pages.options import LoginPagesOptions

# RFC 7636, appendix B.
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
USER = "0190a1b2-0000-7000-8000-000000000000"
TOKENS: dict[str, Any] = {"accessToken": "secret", "user": {"id": USER}}


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[OpenedPlugin]:
    with opened_plugin(tmp_path, "login_pages") as opened:
        yield opened


@pytest.fixture
def login_codes(opened: OpenedPlugin) -> LoginCodes:
    return LoginCodes(opened.host)


def test_the_challenge_is_that_of_the_rfc() -> None:
    assert challenge_of(VERIFIER) == CHALLENGE


def test_a_code_is_redeemed_once(login_codes: LoginCodes) -> None:
    code = login_codes.issue(TOKENS, CHALLENGE)
    assert login_codes.consume(code, VERIFIER) == TOKENS
    assert login_codes.consume(code, VERIFIER) is None


def test_of_parallel_requests_one_gets_the_tokens(login_codes: LoginCodes) -> None:
    code = login_codes.issue(TOKENS, CHALLENGE)
    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(lambda _: login_codes.consume(code, VERIFIER), range(32)))
    assert [result for result in results if result] == [TOKENS]


@pytest.mark.parametrize("verifier", ["", VERIFIER[:-1], VERIFIER + "A", "\ud800" * 43])
def test_a_wrong_verifier_uses_the_code_up(login_codes: LoginCodes, verifier: str) -> None:
    code = login_codes.issue(TOKENS, CHALLENGE)
    assert login_codes.consume(code, verifier) is None
    assert login_codes.consume(code, VERIFIER) is None


def test_a_code_expires_and_is_pruned(opened: OpenedPlugin, login_codes: LoginCodes) -> None:
    code = login_codes.issue(TOKENS, CHALLENGE)
    opened.clock.advance(LIFETIME)
    assert login_codes.consume(code, VERIFIER) is None
    assert opened.prune_steps["login_codes"].run() == 1
    with opened.host.database.read() as transaction:
        assert transaction.scalar(select(func.count()).select_from(codes)) == 0


def test_the_table_holds_neither_codes_nor_tokens(opened: OpenedPlugin, login_codes: LoginCodes) -> None:
    code = login_codes.issue(TOKENS, CHALLENGE)
    with opened.host.database.read() as transaction:
        row = repr(transaction.first(select(codes)))
    assert code not in row
    assert "secret" not in row


@pytest.mark.parametrize(
    "url",
    [
        "http://app.example.com/",
        "javascript:alert(1)",
        "https:",
        "https:///path",
        "https://app.example.com/#part",
        "https://user@app.example.com/",
        "//app.example.com",
    ],
)
def test_a_return_url_must_be_safe(url: str) -> None:
    with pytest.raises(ValueError, match="return_urls"):
        LoginPagesOptions(return_urls=(url,))


def test_front_ends_on_the_same_machine_need_no_tls() -> None:
    LoginPagesOptions(return_urls=("http://localhost:3000/callback", "https://app.example.com/?a=b"))


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000/app",
        "http://localhost/app",
        "https://127.0.0.1/app",
        "http://127.0.0.1/app#part",
        "http://127.0.0.1",
        "http://192.0.2.1/app",
    ],
)
def test_a_url_of_an_app_is_a_loopback_address_without_a_port(url: str) -> None:
    with pytest.raises(ValueError, match="app_return_urls"):
        LoginPagesOptions(app_return_urls=(url,))


def test_a_code_ends_with_the_logins_of_its_user(opened: OpenedPlugin, login_codes: LoginCodes) -> None:
    other = {**TOKENS, "user": {"id": "other"}}
    code, of_other = (login_codes.issue(tokens, CHALLENGE) for tokens in (TOKENS, other))
    in_tenant = Deactivation(USER, DeactivationCause.MEMBERSHIP_END, "tenant")
    with opened.host.database.write() as transaction:
        login_codes.deactivate(transaction, in_tenant)
    kept = login_codes.issue(TOKENS, CHALLENGE)
    assert login_codes.consume(kept, VERIFIER) == TOKENS
    with opened.host.database.write() as transaction:
        login_codes.deactivate(transaction, Deactivation(USER, DeactivationCause.SUSPENSION))
    assert login_codes.consume(code, VERIFIER) is None
    assert login_codes.consume(of_other, VERIFIER) == other
