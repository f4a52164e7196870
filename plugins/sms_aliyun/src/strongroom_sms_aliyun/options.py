"""Configuration options."""

from dataclasses import dataclass

from strongroom.plugin_api import option


@dataclass(frozen=True, slots=True)
class AliyunSmsOptions:
    """The keys of the section ``[messages.aliyun_sms]``."""

    access_key_id: str = option(help="The id of an access key that may send SMS and query deliveries.")
    access_key_secret: str = option(secret=True, help="The secret of that access key.")
    sign_name: str = option(help="The approved signature at the start of each text.")
    templates: dict[str, str] = option(
        default_factory=dict,
        help="The TemplateCode of each message, by Strongroom's template name, for mainland numbers.",
    )
    overseas_templates: dict[str, str] = option(
        default_factory=dict,
        help="The TemplateCode of each message for all other numbers.",
        advanced=True,
    )
    overseas_sign_name: str | None = option(
        None, help="The signature for non-mainland numbers; default: sign_name.", advanced=True
    )
    region: str = option(
        "cn-hangzhou", help="The region, which determines the default endpoint.", advanced=True
    )
    endpoint: str | None = option(
        None, help="The host, and optionally port, of the gateway; default: the region's.", advanced=True
    )
    protocol: str = option(
        "https",
        choices=("https", "http"),
        help="The protocol; http only for a simulator.",
        advanced=True,
    )
    connect_timeout_seconds: float = option(
        5.0, minimum=1, maximum=60, help="Connection timeout in seconds.", advanced=True
    )
    read_timeout_seconds: float = option(
        10.0, minimum=1, maximum=60, help="Read timeout in seconds.", advanced=True
    )
