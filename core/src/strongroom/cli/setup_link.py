"""The setup link, which creates the first administrator."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from strongroom.identity import Origin

if TYPE_CHECKING:
    from strongroom.assembly.container import Container


@dataclass(frozen=True, slots=True)
class ShownLink:
    """A setup link. ``expires_at`` is in milliseconds since the Unix epoch."""

    url: str = field(repr=False)
    expires_at: int


def make_setup_link(container: "Container") -> ShownLink:
    """Create a setup link.

    Raises:
        AdministratorExists: the server already has an administrator.
    """
    settings = container.settings
    link = container.identity.setup.issue(Origin(user_agent="command line"))
    # Browsers do not send the fragment, so the token appears in no log of a server or proxy.
    url = f"{settings.public_root}{settings.server.base_path}/setup#{link.token}"
    return ShownLink(url, link.expires_at)
