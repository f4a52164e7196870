"""What a deployer may set."""

from dataclasses import dataclass

from strongroom.plugin_api import option


@dataclass(frozen=True, slots=True)
class DrawerOptions:
    """The keys of ``[messages.drawer]``."""

    url: str = option(help="Where messages are posted to, such as https://sms.example/send.")
    token: str = option(secret=True, help="The token that the gateway knows the server by.")
    timeout_seconds: float = option(10.0, minimum=1, maximum=60, help="How long a step may take.")

    def __post_init__(self) -> None:
        if not self.url.startswith(("https://", "http://")):
            raise ValueError("url: must begin with https:// or http://")
