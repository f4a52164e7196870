"""Configuration options."""

import re
from dataclasses import dataclass
from typing import Final

from strongroom.plugin_api import option
from strongroom_share_links.models import Kind

_RATE: Final = re.compile(r"[1-9][0-9]{0,8}/(second|minute|hour|day)")
MAKERS: Final = ("manage", "tenant-admins", "nobody")
"""Who may make shares, from the most to the fewest."""
PASSWORDS: Final = ("optional", "required")


@dataclass(frozen=True, slots=True)
class ShareOptions:
    """The keys of the section ``[plugins.share_links]``."""

    enabled: bool = option(True, help="Whether shares can be made and opened.")
    kinds: tuple[str, ...] = option(
        ("read", "drop"), help="The kinds that can be made: read, preview, drop and write."
    )
    max_lifetime_days: int = option(
        90, minimum=0, help="Longest lifetime of a share in days; 0 allows shares without an end."
    )
    password: str = option(
        "optional", secret=False, help="Whether shares need a password: optional or required."
    )
    who: str = option("manage", help="Who makes shares: manage (of the file), tenant-admins or nobody.")
    secrets_readable: bool = option(
        True,
        help="Whether creators can read the URL again; its secret is then stored encrypted.",
        advanced=True,
    )
    page: bool = option(
        True, help="Whether shares have a page for browsers at /s/{secret}.", advanced=True
    )
    anonymous_per_address: tuple[str, ...] = option(
        ("600/hour",), help="Rates of requests with a secret, per address of a visitor.", advanced=True
    )
    retention_days: int = option(
        90,
        minimum=1,
        help="Days after which access_log, and shares that have ended, are deleted.",
        advanced=True,
    )

    def __post_init__(self) -> None:
        unknown = set(self.kinds) - {kind.value for kind in Kind}
        if unknown:
            raise ValueError(f"kinds: must be of: {', '.join(Kind)}")
        if self.password not in PASSWORDS:
            raise ValueError(f"password: must be one of: {', '.join(PASSWORDS)}")
        if self.who not in MAKERS:
            raise ValueError(f"who: must be one of: {', '.join(MAKERS)}")
        if not all(_RATE.fullmatch(rate) for rate in self.anonymous_per_address):
            raise ValueError('anonymous_per_address: must be rates such as "600/hour"')
