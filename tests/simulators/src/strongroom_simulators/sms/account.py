"""The vendor account: keys, signatures and templates."""

from dataclasses import dataclass

from strongroom_simulators.sms.templates import Template


@dataclass(frozen=True, slots=True)
class Account:
    """An access key, and the approved signatures and templates."""

    access_key_id: str = "simulator"
    access_key_secret: str = "simulator-secret"
    sign_names: tuple[str, ...] = ("Strongroom",)
    templates: tuple[Template, ...] = (
        Template("SMS_100000001", "您的验证码为${code}。请勿告知他人。"),
        Template("SMS_100000002", "Your verification code is ${code}.", overseas=True),
    )
