"""Exports users as the lines of an import."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock, iso_format
from strongroom.extensions.user_imports.lines import FACTOR
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.replica_reads import replica_read
from strongroom.foundation.json_text import encode_json
from strongroom.identity.users.bulk import BulkUsers
from strongroom.identity.users.enrolled_factors import EnrolledFactors
from strongroom.identity.users.metadata import StoredMetadata
from strongroom.identity.users.models import (
    SINGLE_KINDS,
    USERNAME,
    BoundCredential,
    User,
    UserStatus,
)
from strongroom.identity.users.password_hashing import PasswordHasher
from strongroom.plugin_api.factors import SecondFactor

_USERS_AT_ONCE: Final = 200

Line = dict[str, Any]


@dataclass(slots=True, eq=False, repr=False)
class ExportedFactors:
    """The secrets of second factors, in the form that imports accept.

    Args:
        methods: the enabled second factors by name.
    """

    _enrolled: EnrolledFactors
    _methods: Mapping[str, SecondFactor[Any]]

    def of_users(self, connection: Connection, user_ids: Sequence[str]) -> dict[str, Any]:
        """Return the secret of each user who has one."""
        method = self._methods.get(FACTOR)
        if method is None:
            return {}
        enrolled = self._enrolled.oldest_of_kind(connection, user_ids, FACTOR)
        secrets = ((user_id, method.exported(factor)) for user_id, factor in enrolled.items())
        return {user_id: secret for user_id, secret in secrets if secret is not None}


@dataclass(slots=True, eq=False, repr=False)
class UserExports:
    """Exports of users. Administrators and service accounts are not in them: an import makes none."""

    _database: Database
    _clock: Clock
    _bulk: BulkUsers
    _hasher: PasswordHasher
    _factors: ExportedFactors
    _audit: AuditService

    def create(
        self, actor_id: str | None, origin: Origin, *, with_secrets: bool = False
    ) -> Iterator[bytes]:
        """Record an export, and return its lines, which are read while they are consumed.

        The record has the number of users at the beginning. It comes first, because an export that is
        interrupted has also disclosed users.

        Args:
            actor_id: the administrator; ``None`` for the command line.
            with_secrets: also export hashes of passwords and secrets of authenticator apps.
        """
        with self._database.write() as connection:
            details = {
                "users": str(self._bulk.count(connection)),
                "secrets": str(with_secrets).lower(),
            }
            event = AuditEvent("user-export.create", actor_id=actor_id, origin=origin, details=details)
            self._audit.record(connection, event)
        return self._encoded(with_secrets=with_secrets)

    def _encoded(self, *, with_secrets: bool) -> Iterator[bytes]:
        last_id = ""
        while True:
            # A transaction per page, so that a slow reader does not keep one open.
            users, lines = self._page(last_id, with_secrets=with_secrets)
            if not users:
                return
            yield b"".join(f"{encode_json(line)}\n".encode() for line in lines)
            last_id = users[-1].id

    @replica_read
    def _page(self, last_id: str, *, with_secrets: bool) -> tuple[list[User], list[Line]]:
        with self._database.read() as connection:
            users = self._bulk.page(connection, last_id, _USERS_AT_ONCE)
            return users, self._lines(connection, users, with_secrets=with_secrets)

    def _lines(self, connection: Connection, users: Sequence[User], *, with_secrets: bool) -> list[Line]:
        user_ids = [user.id for user in users]
        bound = self._bulk.find_credentials(connection, user_ids)
        metadata = self._bulk.find_metadata(connection, user_ids)
        secrets = self._secrets(connection, user_ids) if with_secrets else {}
        return [
            {
                **self._profile(user),
                **_contacts(bound.get(user.id, ())),
                **_metadata(metadata.get(user.id, StoredMetadata())),
                **secrets.get(user.id, {}),
            }
            for user in users
        ]

    def _profile(self, user: User) -> Line:
        is_suspended = user.status == UserStatus.SUSPENDED
        is_suspended = is_suspended and not user.is_suspension_over(self._clock.now())
        status = UserStatus.SUSPENDED if is_suspended else UserStatus.ACTIVE
        line = {"name": user.name, "status": status.value, "createdAt": iso_format(user.created_at)}
        return line if user.external_id is None else {"externalId": user.external_id, **line}

    def _secrets(self, connection: Connection, user_ids: Sequence[str]) -> dict[str, Line]:
        secrets: dict[str, Line] = {}
        for user_id, password in self._bulk.find_passwords(connection, user_ids).items():
            secrets[user_id] = {"password": self._hasher.exported(password)}
        for user_id, secret in self._factors.of_users(connection, user_ids).items():
            secrets.setdefault(user_id, {})[FACTOR] = secret
        return secrets


def _contacts(bound: Sequence[BoundCredential]) -> Line:
    line: Line = {}
    identities = []
    for item in bound:
        if item.kind not in SINGLE_KINDS:
            identities.append({"provider": item.kind, "subject": item.value})
            continue
        line[item.kind] = item.address
        if item.kind != USERNAME:
            line[f"{item.kind}Verified"] = item.is_verified
    return {**line, "identities": identities} if identities else line


def _metadata(stored: StoredMetadata) -> Line:
    members = {"metadata": stored.own, "serverMetadata": stored.server}
    return {name: value for name, value in members.items() if value}
