"""Operations on verification. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import CaptchaRequest, CodeRequest, IssuedCaptcha, SentCode
from ..operations import UNSET, Operation, Unset


def create_captcha(
    *,
    body: CaptchaRequest | Unset = UNSET,
    x_device_id: str | Unset = UNSET,
) -> Operation[IssuedCaptcha]:
    """Get a captcha. Its solution is valid for one attempt within a few minutes.

    A client that sends no `X-Device-Id` gets one, to send from then on.
    """
    return Operation(
        "POST",
        "/captchas",
        IssuedCaptcha,
        headers={
            "X-Device-Id": x_device_id,
        },
        body=body,
    )


def send_verification_code(
    *,
    body: CodeRequest,
    x_device_id: str | Unset = UNSET,
) -> Operation[SentCode]:
    """Send a code to an e-mail address or a mobile number. Requires a captcha.

    The response is the same whether or not a user holds the recipient. A code that could not be used,
    or that no sender can send, is refused before the request counts against the limits. Without
    `X-Device-Id`, clients with the same address and User-Agent count as one device. An access
    key with `users:write`, of an administrator or a service account, has no limit per device.
    """
    return Operation(
        "POST",
        "/verification-codes",
        SentCode,
        headers={
            "X-Device-Id": x_device_id,
        },
        body=body,
    )
