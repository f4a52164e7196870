"""Shares of makers: created, changed, listed and deleted by users with the permission ``manage``."""

import hashlib
import secrets
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import Select, delete, func, insert, or_, select, update

from strongroom.plugin_api.files import Delegation, FileInfo, Level
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.state import Transaction
from strongroom.plugin_api.times import iso_format
from strongroom.plugin_api.web import ApiError, FieldError
from strongroom_share_links.errors import FORBIDDEN, OUTDATED, POLICY, UNKNOWN
from strongroom_share_links.models import (
    RECEIVERS,
    Audience,
    Kind,
    Link,
    links,
    metadata,
    people,
)
from strongroom_share_links.options import ShareOptions
from strongroom_share_links.policies import Policies, Policy

_SECRET_BYTES: Final = 24
_GONE: Final = (401, 403, 404)
_AT_ONCE: Final = 1000
_TENANTS_AT_ONCE: Final = 200

Json = Mapping[str, Any]


class State(StrEnum):
    """Whether a share can be opened, and why not. Visitors get none of the reasons."""

    ACTIVE = "active"
    EXPIRED = "expired"
    EXHAUSTED = "exhausted"
    DISABLED = "disabled"  # by the policy of the server or the tenant
    MAKER_GONE = "maker-gone"  # suspended or deleted
    NOT_MANAGED = "not-managed"  # the maker no longer manages the file, or left the tenant
    FILE_GONE = "file-gone"  # deleted


_STATES: Final = {
    "error.user-suspended": State.MAKER_GONE,
    "error.not-found": State.FILE_GONE,
}


@dataclass(frozen=True, slots=True)
class SharedLink:
    """A share for its makers: with its state, its people, and the secret if it can be read."""

    link: Link
    state: State
    user_ids: Sequence[str]
    secret: str | None
    file: FileInfo | None = None


def hash_of(secret: str) -> str:
    """Return the hash of a secret, as stored. The secret is random, so no slow hash is needed."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def delegation_of(link: Link, permission: Level = "read") -> Delegation:
    """Return the maker's rights that visitors of a share use; ``write`` for what they upload."""
    return Delegation(
        link.maker_id, link.tenant_id, link.file_id, permission, content_types=link.allowed_types
    )


class Links:
    """The shares of all tenants."""

    def __init__(self, host: HostAPI, policies: Policies) -> None:
        self._host = host
        self._policies = policies

    @property
    def _options(self) -> ShareOptions:
        options: ShareOptions = self._host.options
        return options

    def create(self, tenant_id: str, file_id: str, wanted: Json) -> SharedLink:
        """Create a share of a file or folder that the caller manages.

        Raises:
            ApiError: the caller does not manage it, or the policy forbids the share.
        """
        file = self._host.files.stat(tenant_id, file_id)
        if file.permission != "manage":
            raise ApiError(FORBIDDEN)
        is_admin = self._role(tenant_id) == "admin"
        with self._host.database.read() as transaction:
            policy = self._policies.find(transaction, tenant_id)
        if policy.who == "nobody" or (policy.who == "tenant-admins" and not is_admin):
            raise ApiError(FORBIDDEN)
        secret, maker_id = secrets.token_urlsafe(_SECRET_BYTES), self._host.users.me().id
        link = self._new(tenant_id, file_id, maker_id, secret, policy, wanted)
        _require_allowed(policy, link)
        _require_folder(link, file)
        user_ids = wanted["audience"][1]
        with self._host.database.write() as transaction:
            row = {name: getattr(link, name) for name in Link.__slots__}
            row |= {"secret_hash": hash_of(secret), "allowed_types": list(link.allowed_types)}
            transaction.execute(insert(links), row)
            _put_people(transaction, link.id, user_ids)
        self._audit("create", link)
        return SharedLink(link, State.ACTIVE, user_ids, secret, file)

    def get(self, tenant_id: str, link_id: str) -> SharedLink:
        """Return a share that the caller may manage.

        Raises:
            ApiError: there is none, or the caller may not manage it.
        """
        return self._shown(self._managed(tenant_id, link_id))

    def update(self, tenant_id: str, link_id: str, wanted: Json) -> SharedLink:
        """Change a share, if it has the expected revision.

        Raises:
            ApiError: there is none, the policy forbids it, or it has another revision.
        """
        self._managed(tenant_id, link_id)
        with self._host.database.read() as transaction:
            policy = self._policies.find(transaction, tenant_id)
        # Outside of the transaction, because a password is hashed.
        changes, known = self._changes(policy, wanted), links.c.id == link_id
        with self._host.database.write() as transaction:
            # Locked: without a revision, a concurrent change must not refuse this one.
            row = transaction.first(select(links).where(known).with_for_update())
            after = _changed(row, wanted, changes)
            _require_allowed(policy, after)
            values = {name: getattr(after, name) for name in Link.__slots__ if name not in _COUNTED}
            values["allowed_types"] = list(after.allowed_types)
            transaction.execute(update(links).where(known).values(values))
            if "audience" in wanted:
                _put_people(transaction, link_id, wanted["audience"][1])
        self._audit("update", after)
        return self.get(tenant_id, link_id)

    def delete(self, tenant_id: str, link_id: str) -> None:
        """Delete a share with its records. Its URL is dead at once.

        Raises:
            ApiError: there is none, or the caller may not manage it.
        """
        link = self._managed(tenant_id, link_id)
        with self._host.database.write() as transaction:
            if not remove(transaction, [link_id]):
                raise ApiError(UNKNOWN)
        self._audit("delete", link)

    def of_file(self, tenant_id: str, file_id: str, query: Json) -> tuple[list[SharedLink], int]:
        """Return a page of the shares of a file or folder that the caller manages, the newest first.

        Raises:
            ApiError: the caller does not manage it.
        """
        if self._host.files.stat(tenant_id, file_id).permission != "manage":
            raise ApiError(FORBIDDEN)
        return self._page((links.c.tenant_id == tenant_id) & (links.c.file_id == file_id), query)

    def of_tenant(self, tenant_id: str, query: Json) -> tuple[list[SharedLink], int]:
        """Return a page of the caller's shares in a tenant; for its administrators, of all shares.

        Raises:
            ApiError: the caller is not a member.
        """
        role = self._host.tenants.role(tenant_id)
        if role is None:
            raise ApiError(FORBIDDEN)
        condition = links.c.tenant_id == tenant_id
        if role != "admin":
            condition &= links.c.maker_id == self._host.users.me().id
        if query["stale"] is None:
            return self._page(condition, query)
        return self._by_state(condition, query)

    def with_me(self, query: Json) -> tuple[list[SharedLink], int]:
        """Return a page of the shares for the caller: as a named user, or as a member of a tenant."""
        me = self._host.users.me().id
        tenants = self._tenants()
        named = links.c.id.in_(select(people.c.link_id).where(people.c.user_id == me))
        of_members = (links.c.audience == Audience.MEMBERS) & links.c.tenant_id.in_(tenants)
        condition = or_((links.c.audience == Audience.USERS) & named, of_members)
        found = [
            shared
            for shared in self._newest(condition & (links.c.maker_id != me))
            if shared.state is State.ACTIVE
        ]
        return _slice(found, query), len(found)

    def _tenants(self) -> list[str]:
        found: list[str] = []
        number: int | None = 1
        while number is not None:
            page = self._host.tenants.list(page=number, size=_TENANTS_AT_ONCE)
            found += [tenant.id for tenant in page.items]
            number = page.next
        return found

    def state_of(self, link: Link, policy: Policy) -> tuple[State, FileInfo | None]:
        """Return the state of a share, with its file or folder if the maker still manages it.

        The core decides about the maker: active, a member, and managing the file, which exists.
        """
        if not policy.allows(link):
            return State.DISABLED, None
        if link.expires_at is not None and link.expires_at <= self._host.clock.now():
            return State.EXPIRED, None
        try:
            with self._host.acting_for(delegation_of(link)):
                file = self._host.files.stat(link.tenant_id, link.file_id)
        except ApiError as error:
            if error.status not in _GONE:
                raise
            return _STATES.get(error.code, State.NOT_MANAGED), None
        return (State.EXHAUSTED if link.is_exhausted else State.ACTIVE), file

    def _role(self, tenant_id: str) -> str | None:
        """Return the caller's role; ``None`` for access keys that may not know it."""
        try:
            return self._host.tenants.role(tenant_id)
        except ApiError:
            return None

    def _managed(self, tenant_id: str, link_id: str) -> Link:
        condition = (links.c.tenant_id == tenant_id) & (links.c.id == link_id)
        with self._host.database.read() as transaction:
            row = transaction.first(select(links).where(condition))
        # The same error for other people's shares, so that their ids are not confirmed.
        if row is None or not self._may_manage(Link.of(row)):
            raise ApiError(UNKNOWN)
        return Link.of(row)

    def _may_manage(self, link: Link) -> bool:
        """Return whether the caller manages the file, made the share, or administers the tenant."""
        try:
            if self._host.files.stat(link.tenant_id, link.file_id).permission == "manage":
                return True
        except ApiError:
            # The file is gone, or out of reach; the maker must still be able to delete the share.
            pass
        role = self._role(link.tenant_id)
        return role == "admin" or (role is not None and link.maker_id == self._caller())

    def _caller(self) -> str | None:
        return self._host.user_id()

    def _new(
        self, tenant_id: str, file_id: str, maker_id: str, secret: str, policy: Policy, wanted: Json
    ) -> Link:
        now, drop = self._host.clock.now(), wanted["drop"]
        password, (audience, _) = wanted["password"], wanted["audience"]
        return Link(
            id=str(uuid.uuid4()),
            tenant_id=tenant_id,
            file_id=file_id,
            maker_id=maker_id,
            kind=wanted["kind"],
            sealed_secret=self._host.seal(secret) if self._options.secrets_readable else None,
            label=wanted["label"],
            password_hash=self._host.hash_password(password) if password else None,
            expires_at=self._end(policy, wanted["expiresAt"]),
            max_downloads=wanted["maxDownloads"],
            downloads=0,
            audience=audience,
            notify=wanted["notify"],
            max_bytes=drop["max_bytes"],
            max_files=drop["max_files"],
            allowed_types=tuple(drop["allowed_types"]),
            require_name=drop["require_name"],
            layout=drop["layout"],
            dropped_files=0,
            dropped_bytes=0,
            opened_at=None,
            revision=1,
            created_at=now,
            updated_at=now,
        )

    def _changes(self, policy: Policy, wanted: Json) -> Json:
        """Return the fields that a change has, without the revision."""
        values: dict[str, Any] = {
            field: wanted[name] for name, field in _CHANGEABLE.items() if name in wanted
        }
        if "password" in wanted:
            password = wanted["password"]
            values["password_hash"] = self._host.hash_password(password) if password else None
        if "expiresAt" in wanted:
            values["expires_at"] = self._end(policy, wanted["expiresAt"])
        if "audience" in wanted:
            values["audience"] = wanted["audience"][0]
        return values | {"updated_at": self._host.clock.now()}

    def _end(self, policy: Policy, wanted: int | None) -> int | None:
        """Return when a share ends: as wanted, or the latest that the policy allows.

        Raises:
            ApiError: it would be in the past, or too late.
        """
        now = self._host.clock.now()
        latest = None if policy.lifetime is None else now + policy.lifetime
        if wanted is None:
            return latest
        if wanted <= now or (latest is not None and wanted > latest):
            message = f"Must be in the future, and within {policy.max_lifetime_days} days."
            raise ApiError(POLICY, details=[FieldError("expiresAt", "out-of-range", message)])
        return wanted

    def _page(self, condition: Any, query: Json) -> tuple[list[SharedLink], int]:
        size, offset = query["pageSize"], (query["pageNumber"] - 1) * query["pageSize"]
        with self._host.database.read() as transaction:
            total = transaction.scalar(select(func.count()).select_from(links).where(condition))
            rows = transaction.all(_ordered(condition).limit(size).offset(offset))
        return [self._shown(Link.of(row)) for row in rows], total

    def _by_state(self, condition: Any, query: Json) -> tuple[list[SharedLink], int]:
        found = [
            shared
            for shared in self._newest(condition)
            if (shared.state is not State.ACTIVE) is query["stale"]
        ]
        return _slice(found, query), len(found)

    def _newest(self, condition: Any) -> list[SharedLink]:
        # The state depends on other tables of the server, so it is no condition of the query.
        with self._host.database.read() as transaction:
            rows = transaction.all(_ordered(condition).limit(_AT_ONCE))
        return [self._shown(Link.of(row)) for row in rows]

    def _shown(self, link: Link) -> SharedLink:
        with self._host.database.read() as transaction:
            policy = self._policies.find(transaction, link.tenant_id)
            users = transaction.scalars(
                select(people.c.user_id).where(people.c.link_id == link.id).order_by(people.c.user_id)
            )
        state, file = self.state_of(link, policy)
        secret = self._host.unseal(link.sealed_secret) if link.sealed_secret else None
        return SharedLink(link, state, users, secret, file)

    def _audit(self, action: str, link: Link) -> None:
        details = {
            "shareId": link.id,
            "tenantId": link.tenant_id,
            "fileId": link.file_id,
            "kind": link.kind,
            "hasPassword": link.password_hash is not None,
            "audience": link.audience,
            "expiresAt": None if link.expires_at is None else iso_format(link.expires_at),
            "maxDownloads": link.max_downloads,
        }
        self._host.audit(action, "share", link.id, details)


_COUNTED: Final = ("id", "downloads", "dropped_files", "dropped_bytes", "opened_at")
_CHANGEABLE: Final = {"label": "label", "maxDownloads": "max_downloads", "notify": "notify"}


def _ordered(condition: Any) -> Select[Any]:
    return select(links).where(condition).order_by(links.c.created_at.desc(), links.c.id)


def _slice(found: Sequence[SharedLink], query: Json) -> list[SharedLink]:
    start = (query["pageNumber"] - 1) * query["pageSize"]
    return list(found[start : start + query["pageSize"]])


def _changed(row: Any, wanted: Json, changes: Json) -> Link:
    """Return the share of a row with changes.

    Raises:
        ApiError: the share was deleted concurrently, or has another revision.
    """
    if row is None:
        raise ApiError(UNKNOWN)
    link = Link.of(row)
    if wanted.get("revision", link.revision) != link.revision:
        raise ApiError(OUTDATED)
    return replace(link, **changes, revision=link.revision + 1)


def _require_allowed(policy: Policy, link: Link) -> None:
    """Check a new or changed share against the policy.

    Raises:
        ApiError: it is forbidden.
    """
    if not policy.enabled:
        raise ApiError(FORBIDDEN)
    if link.kind not in policy.kinds:
        message = f"Must be one of: {', '.join(policy.kinds)}."
        raise ApiError(POLICY, details=[FieldError("kind", "not-allowed", message)])
    if not policy.allows(link):
        raise ApiError(POLICY, details=[FieldError("password", "required", "A password is required.")])


def _require_folder(link: Link, file: FileInfo) -> None:
    if Kind(link.kind) in RECEIVERS and not file.is_folder:
        raise ApiError(POLICY, details=[FieldError("kind", "not-a-folder", "Must be read or preview.")])


def _put_people(transaction: Transaction, link_id: str, user_ids: Sequence[str]) -> None:
    transaction.execute(delete(people).where(people.c.link_id == link_id))
    if user_ids:
        rows = [{"link_id": link_id, "user_id": user_id} for user_id in user_ids]
        transaction.execute(insert(people), rows)


def remove(transaction: Transaction, link_ids: Sequence[str]) -> int:
    """Delete shares with all their records; return how many shares existed."""
    for name in ("people", "openings", "downloads", "uploads", "folders"):
        table = metadata.tables[f"share_links_{name}"]
        transaction.execute(delete(table).where(table.c.link_id.in_(link_ids)))
    return transaction.execute(delete(links).where(links.c.id.in_(link_ids)))
