"""What a deployer may set."""

from dataclasses import dataclass

from strongroom.plugin_api import option
from strongroom_login_sms.body import BodyTemplate
from strongroom_login_sms.statuses import StatusRule


@dataclass(frozen=True, slots=True)
class SmsLoginOptions:
    """The keys of the section ``[login.sms]``."""

    register: bool = option(True, help="Whether a number that no user holds becomes a new user.")


@dataclass(frozen=True, slots=True)
class AliyunSmsOptions:
    """The keys of the section ``[messages.aliyun_sms]``."""

    access_key_id: str = option(help="The id of an access key that may send SMS and query deliveries.")
    access_key_secret: str = option(secret=True, help="The secret of that access key.")
    sign_name: str = option(help="The approved signature that every text begins with.")
    templates: dict[str, str] = option(
        default_factory=dict,
        help="The TemplateCode of each message, by Strongroom's template name, for mainland numbers.",
    )
    overseas_templates: dict[str, str] = option(
        default_factory=dict, help="Likewise for numbers of all other countries and regions."
    )
    overseas_sign_name: str | None = option(
        None, help="The signature for those numbers; absent: the same as sign_name."
    )
    region: str = option("cn-hangzhou", help="The region whose endpoint is used when none is set.")
    endpoint: str | None = option(
        None, help="The host, and port if not the usual one, of the gateway; absent: the region's."
    )
    protocol: str = option(
        "https", choices=("https", "http"), help="The protocol; http is for a simulator only."
    )
    connect_timeout_seconds: float = option(
        5.0, minimum=1, maximum=60, help="How long, in seconds, a connection may take."
    )
    read_timeout_seconds: float = option(
        10.0, minimum=1, maximum=60, help="How long, in seconds, an answer may take."
    )


@dataclass(frozen=True, slots=True)
class HttpSmsOptions:
    """The keys of the section ``[messages.http_sms]``."""

    url: str = option(help="The URL of the gateway; it appears in logs, so a key does not belong in it.")
    body: str = option(
        secret=True,
        help="What is sent, as JSON or as a form, in whose values {recipient}, {text}, {code}, {id} and "
        "{template} are filled in.",
    )
    encoding: str = option("json", choices=("json", "form"), help="What body is written in.")
    method: str = option("POST", choices=("POST", "PUT"), help="The HTTP method.")
    headers: dict[str, str] = option(
        default_factory=dict, secret=True, help="Headers, such as the one that carries the key."
    )
    accepted: tuple[str, ...] = option(
        ("2xx",), help="The statuses, such as 202 or 2xx, by which the gateway takes a message."
    )
    timeout_seconds: float = option(
        10.0,
        minimum=1,
        maximum=60,
        help="How long, in seconds, connecting and the answer may each take.",
    )

    def __post_init__(self) -> None:
        """Refuse a body or a status that could never work.

        Raises:
            ValueError: says which key, and why.
        """
        BodyTemplate(self.body, self.encoding)
        StatusRule(self.accepted)
