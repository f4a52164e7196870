"""Configuration options."""

from dataclasses import dataclass

from strongroom.plugin_api import option


@dataclass(frozen=True, slots=True)
class EmailLoginOptions:
    """The keys of the section ``[login.email_code]``."""

    register: bool = option(
        True, help="Whether login with an unbound address creates a user.", advanced=True
    )
