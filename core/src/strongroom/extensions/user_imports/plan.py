"""Decides what happens to each line: a new user, a change of one, or a refusal."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection

from strongroom.extensions.user_imports.lines import UserLine
from strongroom.extensions.user_imports.models import OnTakenUser, UserImport
from strongroom.extensions.user_imports.store import ImportStore
from strongroom.foundation.errors import Detail
from strongroom.identity.users.bulk import BulkUsers
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.models import SINGLE_KINDS, BoundCredential, User, UserType
from strongroom.identity.users.service import UserService
from strongroom.plugin_api.login import Credential

_EXTERNAL_ID: Final = "externalId"


@dataclass(frozen=True, slots=True)
class Plan:
    """What happens to the lines of a chunk.

    Args:
        refused: the faults by the number of the line.
        keys: the line of each new key, by its hash.
    """

    created: list[UserLine] = field(default_factory=list)
    updated: list[tuple[User, UserLine]] = field(default_factory=list)
    skipped: list[UserLine] = field(default_factory=list)
    refused: dict[int, Sequence[Detail]] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Existing:
    """The users that lines of a chunk name."""

    by_external_id: dict[str, User]
    by_credential: dict[Credential, str]
    by_id: dict[str, User]


@dataclass(slots=True, eq=False, repr=False)
class Planner:
    """Plans chunks, within the transaction that applies the plan."""

    _store: ImportStore
    _bulk: BulkUsers
    _users: UserService
    _credentials: CredentialService

    def plan(self, connection: Connection, job: UserImport, lines: Sequence[UserLine]) -> Plan:
        """Return the plan of valid lines."""
        plan = Plan()
        unique = self._without_duplicates(connection, job, lines, plan)
        existing = self._existing(connection, unique)
        for line in unique:
            self._decide(job, line, existing, plan)
        self._refuse_second_updates(connection, job, plan)
        return plan

    def _without_duplicates(
        self, connection: Connection, job: UserImport, lines: Sequence[UserLine], plan: Plan
    ) -> list[UserLine]:
        """Return the lines whose ids and credentials no earlier line of the import has."""
        hashes = {line.number: self._hashes(job, line) for line in lines}
        known = self._store.find_lines(
            connection, job.id, [hashed for fields in hashes.values() for hashed in fields]
        )
        unique = []
        for line in lines:
            line_hashes = hashes[line.number]
            faults = [
                _duplicate(line_hashes[hashed], known.get(hashed) or plan.keys[hashed])
                for hashed in line_hashes
                if hashed in known or hashed in plan.keys
            ]
            if faults:
                plan.refused[line.number] = faults
            else:
                plan.keys.update(dict.fromkeys(line_hashes, line.number))
                unique.append(line)
        return unique

    def _hashes(self, job: UserImport, line: UserLine) -> dict[str, str]:
        """Return the names of the fields of a line by the hashes of their keys."""
        keys = {f"{c.kind}:{c.value}": _field_name(c) for c in _to_credentials(line)}
        if line.external_id is not None:
            keys[f"{_EXTERNAL_ID}:{line.external_id}"] = _EXTERNAL_ID
        return {self._store.hash(job.id, key): name for key, name in keys.items()}

    def _existing(self, connection: Connection, lines: Sequence[UserLine]) -> _Existing:
        named = [line.external_id for line in lines if line.external_id is not None]
        by_external_id = {
            user.external_id: user for user in self._bulk.with_external_ids(connection, named)
        }
        credentials = [credential for line in lines for credential in _to_credentials(line)]
        holders = self._credentials.find_users(connection, credentials) if credentials else {}
        holding = self._users.find(connection, holders.values()) if holders else []
        by_id = {user.id: user for user in (*holding, *by_external_id.values())}
        return _Existing(
            {key: user for key, user in by_external_id.items() if key is not None}, holders, by_id
        )

    def _decide(self, job: UserImport, line: UserLine, existing: _Existing, plan: Plan) -> None:
        holders = dict(_holders(line, existing))
        if not holders:
            self._create(line, plan)
        elif job.on_conflict == OnTakenUser.SKIP:
            plan.skipped.append(line)
        elif job.on_conflict == OnTakenUser.FAIL:
            plan.refused[line.number] = [_taken(name) for name in holders]
        else:
            self._update(line, existing, holders, plan)

    def _create(self, line: UserLine, plan: Plan) -> None:
        if line.credentials:
            plan.created.append(line)
        else:
            message = "Needs an email, mobile, username or identity."
            plan.refused[line.number] = [Detail("email", "required", message)]

    def _update(self, line: UserLine, existing: _Existing, holders: dict[str, str], plan: Plan) -> None:
        # The id of the other system decides; without one, the first of its credentials.
        user = existing.by_id[next(iter(holders.values()))]
        faults = [_taken(name) for name, holder in holders.items() if holder != user.id]
        if user.type != UserType.USER or user.deleted_at is not None:
            faults = [Detail("", "protected", "Imports change neither administrators nor services.")]
        elif line.external_id is not None and user.external_id not in (None, line.external_id):
            faults.append(Detail(_EXTERNAL_ID, "conflict", "The user has another external id."))
        if faults:
            plan.refused[line.number] = faults
        else:
            plan.updated.append((user, line))

    def _refuse_second_updates(self, connection: Connection, job: UserImport, plan: Plan) -> None:
        """Refuse lines whose user an earlier line has changed, named by another of its credentials."""
        hashes = {
            line.number: self._store.hash(job.id, f"user:{user.id}") for user, line in plan.updated
        }
        known = self._store.find_lines(connection, job.id, list(hashes.values()))
        for user, line in list(plan.updated):
            hashed = hashes[line.number]
            earlier = known.get(hashed) or plan.keys.get(hashed)
            if earlier is None:
                plan.keys[hashed] = line.number
            else:
                plan.updated.remove((user, line))
                plan.refused[line.number] = [_duplicate("", earlier)]

    def changed_logins(
        self, connection: Connection, job: UserImport, lines: Sequence[UserLine]
    ) -> list[int]:
        """Return the numbers of the lines that would change how a user logs in who exists."""
        if job.on_conflict != OnTakenUser.UPDATE:
            return []
        existing = self._existing(connection, lines)
        bound = self._bulk.find_credentials(connection, [*existing.by_id])
        return [line.number for line in lines if _is_changed_login(line, existing, bound)]


def _is_changed_login(
    line: UserLine, existing: _Existing, bound: Mapping[str, Sequence[BoundCredential]]
) -> bool:
    user_id = next((user_id for _, user_id in _holders(line, existing)), None)
    if user_id is None:
        return False
    held = {item.credential for item in bound.get(user_id, ())}
    return _changes_login(line, held)


def _changes_login(line: UserLine, held: Collection[Credential]) -> bool:
    has_secret = line.password is not None or line.factor is not None
    return has_secret or any(credential not in held for credential in _to_credentials(line))


def _to_credentials(line: UserLine) -> Iterator[Credential]:
    return (item.credential for item in line.credentials)


def _holders(line: UserLine, existing: _Existing) -> Iterator[tuple[str, str]]:
    """Yield the users who have the id or a credential of a line, by the name of the field."""
    if line.external_id in existing.by_external_id:
        yield _EXTERNAL_ID, existing.by_external_id[line.external_id].id
    for credential in _to_credentials(line):
        if credential in existing.by_credential:
            yield _field_name(credential), existing.by_credential[credential]


def _field_name(credential: Credential) -> str:
    return credential.kind if credential.kind in SINGLE_KINDS else f"identities.{credential.kind}"


def _taken(name: str) -> Detail:
    return Detail(name, "taken", "Another user has it.")


def _duplicate(name: str, line: int) -> Detail:
    return Detail(name, "duplicate", f"Line {line} has the same user.")
