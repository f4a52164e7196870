"""Each documented errcode becomes the exception that names the cause."""

import pytest

from strongroom_login_wechat import errors
from strongroom_login_wechat.client import PlatformClient
from strongroom_simulators.wechat import Platform


@pytest.mark.parametrize(
    ("errcode", "expected"),
    [
        (40029, errors.CodeInvalid),
        (40163, errors.CodeUsed),
        (42003, errors.CodeExpired),
        (40226, errors.PersonBlocked),
        (40001, errors.TokenRefused),
        (40014, errors.TokenRefused),
        (42001, errors.TokenRefused),
        (40030, errors.RefreshTokenRefused),
        (42002, errors.RefreshTokenRefused),
        (40013, errors.Misconfigured),
        (40125, errors.Misconfigured),
        (-1, errors.PlatformUnavailable),
        (45009, errors.QuotaExhausted),
        (45011, errors.RateLimited),
        (99999, errors.PlatformUnavailable),
    ],
)
def test_an_errcode_in_a_200_body_is_raised(
    errcode: int, expected: type[errors.WeChatError], client: PlatformClient, vendor: Platform
) -> None:
    vendor.failures.plan("/sns/auth", errcode, times=3)
    with pytest.raises(errors.WeChatError) as caught:
        client.get("/sns/auth")
    assert type(caught.value) is expected
    assert caught.value.errcode == errcode


def test_every_fault_of_a_client_has_a_stable_code_of_its_own() -> None:
    codes = [fault.kind.code for fault in errors.ClientFault.__subclasses__()]
    assert sorted(codes) == [
        "error.wechat-code-expired",
        "error.wechat-code-invalid",
        "error.wechat-code-used",
        "error.wechat-data-invalid",
        "error.wechat-person-blocked",
        "error.wechat-phone-code-invalid",
    ]


def test_a_limit_has_a_longer_retry_after_than_a_busy_platform() -> None:
    busy, minute, day = errors.PlatformUnavailable, errors.RateLimited, errors.QuotaExhausted
    assert busy.retry_after < minute.retry_after < day.retry_after
