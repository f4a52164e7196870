"""JSON objects about users: users write one themselves, and administrators another."""

from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, select

from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.identity.users.models import user_metadata
from strongroom.plugin_api.deactivation import Deactivation

Json = dict[str, Any]

_COLUMNS: Final = ("metadata", "server_metadata")
_SET: Final = Statement(
    for_each_dialect(
        user_metadata,
        lambda insert: insert.on_conflict_do_update(
            index_elements=[user_metadata.c.user_id],
            set_={name: insert.excluded[name] for name in _COLUMNS},
        ),
    )
)
_OF_USER: Final = user_metadata.c.user_id == bindparam("of_user")
_REMOVE: Final = Statement(delete(user_metadata).where(_OF_USER))


@dataclass(frozen=True, slots=True)
class StoredMetadata:
    """The objects about a user.

    Args:
        own: what the user reads and writes.
        server: what only administrators read and write.
    """

    own: Json = field(default_factory=dict)
    server: Json = field(default_factory=dict)


_GET: Final = Statement(
    select(user_metadata.c.metadata, user_metadata.c.server_metadata).where(_OF_USER),
    lambda row: StoredMetadata(*row),
)


class UserMetadata:
    """Stores metadata within the caller's transaction. Never use it for authorization."""

    def set(self, connection: Connection, user_id: str, metadata: StoredMetadata) -> None:
        """Replace the objects about a user."""
        row = {"user_id": user_id, "metadata": metadata.own, "server_metadata": metadata.server}
        _SET.execute(connection, row)

    def get(self, connection: Connection, user_id: str) -> StoredMetadata:
        """Return the objects about a user."""
        return _GET.first(connection, {"of_user": user_id}) or StoredMetadata()

    def deactivate(self, connection: Connection, ended: Deactivation) -> None:
        """Remove the objects about a deleted user."""
        if ended.is_deletion:
            _REMOVE.execute(connection, {"of_user": ended.user_id})
