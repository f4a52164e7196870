"""What a deployer may set."""

from dataclasses import dataclass

from strongroom.plugin_api import option


@dataclass(frozen=True, slots=True)
class DrawerOptions:
    """The keys of ``[captcha]`` with ``provider = "drawer"``."""

    length: int = option(6, minimum=4, maximum=12, help="How many characters there are.")
