"""Configuration options."""

from dataclasses import dataclass

from strongroom.plugin_api import option


@dataclass(frozen=True, slots=True)
class ScimOptions:
    """The keys of the section ``[plugins.scim]``."""

    max_requests_per_minute: int = option(
        6000,
        minimum=1,
        maximum=1_000_000,
        help="Requests per minute of a directory. A bulk request counts as one.",
    )
