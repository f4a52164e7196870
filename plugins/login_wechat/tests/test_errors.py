"""Each documented errcode becomes the exception that names the cause."""

import pytest

from strongroom_login_oauth.errors import (
    CodeExpired,
    CodeInvalid,
    CodeUsed,
    Misconfigured,
    ProviderError,
    ProviderUnavailable,
    TokenRefused,
)
from strongroom_login_wechat.api import WeChatApi
from strongroom_login_wechat.errors import PersonBlocked, kinds
from strongroom_simulators.wechat import Platform


@pytest.mark.parametrize(
    ("errcode", "expected"),
    [
        (40029, CodeInvalid),
        (40163, CodeUsed),
        (42003, CodeExpired),
        (40226, PersonBlocked),
        (40001, TokenRefused),
        (40014, TokenRefused),
        (42001, TokenRefused),
        (40013, Misconfigured),
        (40125, Misconfigured),
        (-1, ProviderUnavailable),
        (45009, ProviderUnavailable),
        (45011, ProviderUnavailable),
        (99999, ProviderUnavailable),
    ],
)
def test_an_errcode_in_a_200_body_is_raised(
    errcode: int, expected: type[ProviderError], client: WeChatApi, vendor: Platform
) -> None:
    vendor.failures.plan("/sns/auth", errcode, times=3)
    with pytest.raises(ProviderError, match=f"returned errcode {errcode}:") as caught:
        client.get("/sns/auth")
    assert type(caught.value) is expected


def test_every_fault_of_a_client_has_a_stable_code_and_text_of_its_own() -> None:
    assert {kind.code: (kind.status, kind.message) for kind in kinds()} == {
        "error.wechat-access-denied": (401, "The login was refused at WeChat."),
        "error.wechat-app-unknown": (400, "Unknown app; see the configuration."),
        "error.wechat-code-expired": (401, "The WeChat code has expired."),
        "error.wechat-code-invalid": (401, "Invalid WeChat code for this app."),
        "error.wechat-code-used": (401, "The WeChat code has already been used."),
        "error.wechat-data-invalid": (
            401,
            "The data is invalid, expired, or another person's or app's.",
        ),
        "error.wechat-person-blocked": (401, "WeChat blocks this person as a risk."),
        "error.wechat-phone-code-invalid": (401, "The phone code is unknown, used, or expired."),
    }


@pytest.mark.parametrize(("errcode", "seconds"), [(-1, 5), (45011, 60), (45009, 3600)])
def test_a_limit_has_a_longer_retry_after_than_a_busy_platform(
    errcode: int, seconds: int, client: WeChatApi, vendor: Platform
) -> None:
    vendor.failures.plan("/sns/auth", errcode, times=3)
    with pytest.raises(ProviderUnavailable) as caught:
        client.get("/sns/auth")
    assert caught.value.retry_after == seconds
