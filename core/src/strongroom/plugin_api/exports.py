"""What users get when they export their own data: a ZIP archive with a JSON file of each kind.

A plugin that stores rows about users adds a file of its own::

    @hookimpl
    def register_user_exports(host: HostAPI) -> list[UserExport]:
        return [UserExport("notes", "Notes that you have written", partial(notes_of, host))]

    def notes_of(host: HostAPI, user_id: str) -> Iterator[dict[str, Any]]:
        with host.database.read() as transaction:
            for row in transaction.all(select(notes).where(notes.c.user_id == user_id)):
                yield {"text": row.text, "createdAt": iso_format(row.created_at)}

Export what is erased with the user (see :mod:`strongroom.plugin_api.deactivation`), and what belongs to
a tenant, but no secrets: the archive leaves the server.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

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

    Raises:
        ValueError: the name has another form.
    """

    name: str
    title: str
    read: Callable[[str], Iterable[Mapping[str, Any]]]

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"the name of an export must be like my-notes, not {self.name!r}")
