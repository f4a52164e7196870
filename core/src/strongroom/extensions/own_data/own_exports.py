"""Exports of what the server stores about a user, for the user: a ZIP archive of JSON files."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from io import TextIOWrapper
from tempfile import TemporaryFile
from typing import IO, Any, Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock, iso_format
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.config.rates import Rate
from strongroom.foundation.database import Database
from strongroom.foundation.json_text import encode_json
from strongroom.foundation.limits.service import Allowance, RateLimits
from strongroom.foundation.translations import Translations
from strongroom.identity.accounts.reauthentication import (
    FRESH_LOGIN,
    Proof,
    ProofFields,
    Reauthentication,
)
from strongroom.identity.users.contacts import Notices
from strongroom.identity.verification.codes import Purpose
from strongroom.plugin_api.exports import OUTSIDE, UserExport

_PIECE: Final = 64 * 1024
_TITLE: Final = "What {product} stores about you"
_NOTES: Final = (
    "Each file is a list of JSON objects. Times are in UTC.",
    "Passwords, keys and the secrets of second factors are not included.",
    "The content of files is not included. It belongs to the space: members can download it there.",
)


class ExportArchive:
    """An archive in a temporary file, which is deleted when the archive is closed."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.size = file.seek(0, os.SEEK_END)

    def __iter__(self) -> Iterator[bytes]:
        self._file.seek(0)
        while piece := self._file.read(_PIECE):
            yield piece

    def close(self) -> None:
        """Delete the file."""
        self._file.close()


class OwnExports:
    """Exports of the data of users, for themselves.

    Args:
        rates: how many exports a user may have.
        product: the name of the product, for the text of the archive.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        reauthentication: Reauthentication,
        limits: RateLimits,
        notices: Notices,
        translations: Translations,
        audit: AuditService,
        *,
        rates: Sequence[Rate],
        product: str,
    ) -> None:
        self._database = database
        self._clock = clock
        self._reauthentication = reauthentication
        self._limits = limits
        self._notices = notices
        self._translations = translations
        self._audit = audit
        self._rates = rates
        self._product = product
        self._exports: Iterable[UserExport] = ()
        # Without the tenants of users, no record about a tenant has details.
        self._tenants: Callable[[str], Collection[str]] = lambda _user_id: ()

    def write_by(self, exports: Iterable[UserExport]) -> None:
        """Set the files of all archives. The iterable is read for each archive."""
        self._exports = exports

    def read_tenants_by(self, tenants: Callable[[str], Collection[str]]) -> None:
        """Set the function that returns the ids of the tenants that a user is a member of now."""
        self._tenants = tenants

    def create(
        self, identity: Identity, user_id: str, proof: Proof, fields: ProofFields, origin: Origin
    ) -> ExportArchive:
        """Record an export of the caller's data, and return it.

        It is complete before the response begins, so that a fault is an error and no broken archive, and
        a slow client keeps no transaction open.

        Raises:
            Forbidden: the caller is another user.
            TooManyRequests: the user has had too many.
            StrongroomError: as :meth:`Reauthentication.require_any`.
        """
        identity.require_self(user_id)
        self._reauthentication.require_any(
            identity, proof, Purpose.UNBIND, login_age=FRESH_LOGIN, fields=fields
        )
        self._limits.spend(Allowance("own_exports_per_user", user_id, self._rates))
        with self._database.write() as connection:
            contacts = self._notices.contacts(connection, user_id)
            event = AuditEvent(
                "user.export",
                actor_id=identity.user_id,
                target_type="user",
                target_id=user_id,
                origin=origin,
            )
            self._audit.record(connection, event)
        return self._write(user_id, self._notices.get_locale(contacts, origin.languages))

    def _write(self, user_id: str, locale: str) -> ExportArchive:
        file = TemporaryFile()  # noqa: SIM115  closed by the archive
        try:
            exports = [*self._exports]
            with ZipFile(file, "w", ZIP_DEFLATED) as archive:
                self._add(archive, "README.txt", [self._readme(exports, locale)])
                for export in exports:
                    self._add(archive, f"{export.name}.json", _json_list(self._records(export, user_id)))
            return ExportArchive(file)
        except BaseException:
            file.close()
            raise

    def _records(self, export: UserExport, user_id: str) -> Iterator[Mapping[str, Any]]:
        """Yield the records of a file, without details of tenants that the user has left."""
        tenants = self._tenants(user_id) if export.members_only else None
        for record in export.read(user_id):
            tenant_id = record.get("tenantId")
            if tenants is None or tenant_id is None or tenant_id in tenants:
                yield record
            else:
                yield {name: value for name, value in record.items() if name in OUTSIDE}

    def _add(self, archive: ZipFile, name: str, pieces: Iterable[str]) -> None:
        # The time of the entry is the local one of no user, so it has none.
        with archive.open(_entry(name), "w") as entry, TextIOWrapper(entry, "utf-8") as text:
            text.writelines(pieces)

    def _readme(self, exports: Iterable[UserExport], locale: str) -> str:
        title = self._translations.translate(_TITLE, locale).replace("{product}", self._product)
        lines = [title, "", iso_format(self._clock.now()), ""]
        lines += [
            f"{export.name}.json: {self._translations.translate(export.title, locale)}"
            for export in exports
        ]
        lines += ["", *(self._translations.translate(note, locale) for note in _NOTES)]
        return "\n".join([*lines, ""])


def _entry(name: str) -> ZipInfo:
    entry = ZipInfo(name)
    entry.compress_type = ZIP_DEFLATED
    entry.external_attr = 0o600 << 16
    return entry


def _json_list(records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    yield "["
    for place, record in enumerate(records):
        yield f"{',' if place else ''}\n{encode_json(record)}"
    yield "\n]\n"
