"""What users get when they export their own data: a ZIP archive with a JSON file of each kind.

A plugin that stores rows about users adds a file of its own::

    @hookimpl
    def register_user_exports(host: HostAPI) -> list[UserExport]:
        return [UserExport("notes", "Notes that you have written", partial(read_notes, host))]

    def read_notes(host: HostAPI, user_id: str) -> Iterator[dict[str, Any]]:
        with host.database.read() as transaction:
            for row in transaction.all(select(notes).where(notes.c.user_id == user_id)):
                yield {
                    "tenantId": row.tenant_id,
                    "text": row.text,
                    "createdAt": iso_format(row.created_at),
                }

Put the tenant of a record into the member ``tenantId``. If the user is not a member of that tenant now,
the archive has only the members in :data:`OUTSIDE` of the record.

Export what is erased with the user (see :mod:`strongroom.plugin_api.deactivation`), and what belongs to
a tenant, but no secrets: the archive leaves the server.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

OUTSIDE: Final = frozenset({"id", "tenantId", "createdAt", "at"})
"""The members of a record that a user gets about a tenant that the user is not a member of."""

_NAME = re.compile("[a-z][a-z0-9-]{0,99}")


@dataclass(frozen=True, slots=True)
class UserExport:
    """A file of the archive.

    Args:
        name: the name of the file without its extension: lowercase letters, digits and hyphens.
        title: what the file contains, in English, without a full stop. The translations of the package
            have it in other languages.
        read: returns JSON objects about the user of an id, without secrets. It is called while the
            archive is written, so an iterator need not have all of them in memory.
        members_only: whether records about a tenant that the user is not a member of now have only the
            members in :data:`OUTSIDE`. ``False`` is for what the user may see without being a member,
            such as an invitation.

    Raises:
        ValueError: the name has another form.
    """

    name: str
    title: str
    read: Callable[[str], Iterable[Mapping[str, Any]]]
    members_only: bool = True

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"the name of an export must be like my-notes, not {self.name!r}")
