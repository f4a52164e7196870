"""The link that makes the first administrator, as an operator is shown it."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from strongroom.identity import Origin

if TYPE_CHECKING:
    from strongroom.assembly.container import Container


@dataclass(frozen=True, slots=True)
class ShownLink:
    """What an operator is shown. ``expires_at`` is in milliseconds since the Unix epoch."""

    url: str = field(repr=False)
    expires_at: int


def make_setup_link(container: "Container") -> ShownLink:
    """Make the link.

    Raises:
        AdministratorExists: there is one already.
    """
    settings = container.settings
    link = container.identity.setup.issue(Origin(user_agent="command line"))
    # In the fragment, which browsers keep to themselves: no log of a server or a proxy has it.
    url = f"{settings.public_root}{settings.server.base_path}/setup#{link.token}"
    return ShownLink(url, link.expires_at)
