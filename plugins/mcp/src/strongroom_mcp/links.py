"""Links for content that does not pass through the model: one file to download, or one to upload.

A link is a sealed text in a URL, so that no table is needed. It has the rights of its maker at the time
of its use, for one file or folder, and ends with the access key or the grant by which it was made.
"""

import json
from dataclasses import asdict, dataclass
from typing import Final, Literal
from urllib.parse import quote

from strongroom.plugin_api.files import Delegation
from strongroom.plugin_api.host import HostAPI

PREFIX: Final = "/mcp"
"""The path of the application."""

Kind = Literal["downloads", "uploads"]

SECONDS: Final[dict[Kind, int]] = {"downloads": 60, "uploads": 600}
"""How long a link may be opened. What has begun then continues."""

_MAX_SEALED: Final = 4096


@dataclass(frozen=True, slots=True)
class Link:
    """A link.

    Args:
        file_id: the file to download or to replace, or the folder of a new file.
        name: the name of a new file; ``None`` for an existing one.
        revision: the revision of the content that an upload replaces.
        expires_at: milliseconds since the Unix epoch.
        key_id: the access key or the grant that made it; ``None``: a login did.
        client_id: the client of the grant.
    """

    kind: Kind
    user_id: str
    tenant_id: str
    file_id: str
    expires_at: int
    key_id: str | None = None
    client_id: str | None = None
    name: str | None = None
    revision: int | None = None

    @property
    def delegation(self) -> Delegation:
        """The rights of the link."""
        level: Literal["read", "write"] = "read" if self.kind == "downloads" else "write"
        return Delegation(
            self.user_id, self.tenant_id, self.file_id, level, required=level, key_id=self.key_id
        )


def make_link(
    host: HostAPI,
    kind: Kind,
    tenant_id: str,
    file_id: str,
    *,
    name: str | None = None,
    revision: int | None = None,
) -> Link:
    """Return a new link of the caller."""
    caller = host.caller
    assert caller is not None  # noqa: S101  the request was authenticated
    expires_at = host.clock.now() + SECONDS[kind] * 1000
    maker = (caller.key_id, caller.client_id)
    return Link(kind, caller.user_id, tenant_id, file_id, expires_at, *maker, name, revision)


def get_url(host: HostAPI, link: Link) -> str:
    """Return the URL of a link."""
    sealed = host.secrets.seal(json.dumps(asdict(link)))
    return f"{host.public_url}{PREFIX}/{link.kind}/{quote(sealed, safe='')}"


def open_link(host: HostAPI, kind: str, sealed: str) -> Link | None:
    """Return a link that has not expired; ``None`` if the text is no link of the kind."""
    if len(sealed) > _MAX_SEALED:
        return None
    try:
        link = Link(**json.loads(host.secrets.unseal(sealed)))
    except ValueError:
        return None
    return link if link.kind == kind and host.clock.now() < link.expires_at else None
