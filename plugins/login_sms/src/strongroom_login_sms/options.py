"""Configuration options."""

from dataclasses import dataclass

from strongroom.plugin_api import option
from strongroom_login_sms.body import BodyTemplate
from strongroom_login_sms.statuses import StatusRule


@dataclass(frozen=True, slots=True)
class SmsLoginOptions:
    """The keys of the section ``[login.sms]``."""

    register: bool = option(
        True, help="Whether login with an unbound number creates a user.", advanced=True
    )


@dataclass(frozen=True, slots=True)
class HttpSmsOptions:
    """The keys of the section ``[messages.http_sms]``."""

    url: str = option(help="The URL of the gateway; it is logged, so it must not contain a key.")
    body: str = option(
        secret=True,
        help="The request body; {recipient}, {text}, {code}, {id} and {template} in its values are "
        "replaced.",
    )
    encoding: str = option("json", choices=("json", "form"), help="The encoding of body.", advanced=True)
    method: str = option("POST", choices=("POST", "PUT"), help="The HTTP method.", advanced=True)
    headers: dict[str, str] = option(
        default_factory=dict, secret=True, help="Request headers, such as one with the key."
    )
    accepted: tuple[str, ...] = option(
        ("2xx",),
        help="The statuses, such as 202 or 2xx, that mean the message was accepted.",
        advanced=True,
    )
    timeout_seconds: float = option(
        10.0,
        minimum=1,
        maximum=60,
        help="Connection timeout and read timeout in seconds, each.",
        advanced=True,
    )

    def __post_init__(self) -> None:
        """Validate ``body`` and ``accepted``.

        Raises:
            ValueError: one of them is invalid; the message names the key.
        """
        BodyTemplate(self.body, self.encoding)
        StatusRule(self.accepted)
