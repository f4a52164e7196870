"""What a deployer may set."""

from dataclasses import dataclass
from pathlib import Path

from strongroom.plugin_api import option


@dataclass(frozen=True, slots=True)
class DrawerOptions:
    """The keys of ``[login.drawer]``."""

    domain: str = option(help="What follows the @ in the usernames that are checked here.")
    accounts: Path = option(help="The file of the accounts.")

    def __post_init__(self) -> None:
        if not self.accounts.is_file():
            raise ValueError(f"accounts: there is no file {self.accounts}")
