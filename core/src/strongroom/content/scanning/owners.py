"""What the features that own scanned content provide, so that scans need not know their tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import Connection

from strongroom.content.scanning.states import ScanState
from strongroom.foundation.caller import Identity, Origin


@dataclass(frozen=True, slots=True)
class OwnedContent:
    """A file that has scanned content.

    Args:
        kind: the kind of the file, which is also the target type of audit events.
        id: identifies the file among files of its kind.
        tenant_id: the tenant, if it belongs to one.
        owner_id: the user who owns the file.
        size: in bytes.
    """

    kind: str
    id: str
    tenant_id: str | None
    name: str
    owner_id: str
    size: int
    content_type: str

    @property
    def details(self) -> dict[str, str]:
        """The details of the file for audit events."""
        return {"name": self.name} | ({"tenant": self.tenant_id} if self.tenant_id else {})


class ContentOwner(Protocol):
    """A feature whose files have scanned content."""

    kind: str

    def find(self, connection: Connection, blob_keys: Sequence[str]) -> Mapping[str, OwnedContent]:
        """Return the files that have the blobs as their content, by blob key."""

    def set_state(
        self, connection: Connection, file: OwnedContent, blob_key: str, state: ScanState | None
    ) -> bool:
        """Set the scan state of a file, and return whether it has changed.

        It does not change if the content was replaced or deleted meanwhile.
        """

    def unscanned(self, connection: Connection, after: str, limit: int) -> Sequence[tuple[str, str]]:
        """Return ids and blob keys of files without a scan state, ordered by id, after an id."""

    def delete(self, admin: Identity, file: OwnedContent, blob_key: str, origin: Origin) -> None:
        """Delete a file with content in quarantine on behalf of a server administrator.

        Raises:
            NotFound: the file was deleted, or the content was replaced or released meanwhile.
        """


class ContentOwners:
    """The features whose files have scanned content."""

    def __init__(self) -> None:
        self._owners: dict[str, ContentOwner] = {}

    def add(self, owner: ContentOwner) -> None:
        """Add a feature."""
        self._owners[owner.kind] = owner

    def __iter__(self) -> Iterator[ContentOwner]:
        return iter(self._owners.values())

    def get(self, file: OwnedContent) -> ContentOwner:
        """Return the feature that a file belongs to."""
        return self._owners[file.kind]

    def find(self, connection: Connection, blob_keys: Sequence[str]) -> Mapping[str, OwnedContent]:
        """Return the files of all features that have the blobs as their content, by blob key."""
        contents: dict[str, OwnedContent] = {}
        for owner in self._owners.values():
            contents |= owner.find(connection, blob_keys)
        return contents
