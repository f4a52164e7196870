"""Shares of creators: created, changed, listed and deleted by users with the permission ``manage``."""

import hashlib
import secrets
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Select, delete, insert, or_, select, update

from strongroom.plugin_api.files import FileInfo, Tenure
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.paging import ResultPage
from strongroom.plugin_api.state import Transaction
from strongroom.plugin_api.times import iso_format
from strongroom.plugin_api.web import ApiError, FieldError
from strongroom_share_links.changes import OWN, current, limited, loosens
from strongroom_share_links.errors import CREATOR_ONLY, FORBIDDEN, POLICY, UNKNOWN
from strongroom_share_links.models import (
    RECEIVERS,
    Audience,
    Kind,
    Link,
    links,
    lock,
    metadata,
    recipients,
)
from strongroom_share_links.options import ShareOptions
from strongroom_share_links.policies import Policies, Policy
from strongroom_share_links.states import State, States

_SECRET_BYTES: Final = 24
_AT_ONCE: Final = 1000
_TENANTS_AT_ONCE: Final = 200

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SharedLink:
    """A share for its creators: with its state, its recipients, and the secret if it can be read."""

    link: Link
    state: State
    user_ids: Sequence[str]
    secret: str | None
    file: FileInfo | None = None


def hash_of(secret: str) -> str:
    """Return the hash of a secret, as stored. The secret is random, so no slow hash is needed."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(slots=True, eq=False, repr=False)
class Links:
    """The shares of all tenants."""

    _host: HostAPI
    _policies: Policies
    _states: States

    @property
    def _options(self) -> ShareOptions:
        options: ShareOptions = self._host.options
        return options

    def create(self, tenant_id: str, file_id: str, request: Json) -> SharedLink:
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
        secret, creator_id = secrets.token_urlsafe(_SECRET_BYTES), self._caller()
        link = self._new(tenant_id, file_id, creator_id, secret, policy, request)
        tenure = self._host.files.tenure(tenant_id, file_id)
        link = limited(link, tenure, is_wanted=request["expiresAt"] is not None)
        _require_allowed(policy, link)
        _require_folder(link, file)
        user_ids = request["audience"][1]
        with self._host.database.write() as transaction:
            row = {**link.columns, "secret_hash": hash_of(secret)}
            transaction.execute(insert(links), row)
            _put_recipients(transaction, link.id, user_ids)
        self._audit("create", link)
        return SharedLink(link, State.ACTIVE, user_ids, secret, file)

    def get(self, tenant_id: str, link_id: str) -> SharedLink:
        """Return a share that the caller may manage.

        Raises:
            ApiError: there is none, or the caller may not manage it.
        """
        shared = self._shown(self._managed(tenant_id, link_id))
        return self._reader(tenant_id)(shared)

    def update(
        self, tenant_id: str, link_id: str, request: Json, revision: int | None = None
    ) -> SharedLink:
        """Change a share, if it has the expected revision. Who loosens it answers for it from then on.

        Raises:
            ApiError: there is none, the policy forbids it, it has another revision, or the caller, who
                is not its creator, may only tighten it.
        """
        link = self._managed(tenant_id, link_id)
        with self._host.database.read() as transaction:
            policy = self._policies.find(transaction, tenant_id)
        # Outside of the transaction, because a password is hashed.
        changes, known = self._changes(link, policy, request), links.c.id == link_id
        tenure = self._tenure(link)
        with self._host.database.write() as transaction:
            # Locked: without a revision, a concurrent change must not refuse this one.
            before = current(transaction.first(select(links).where(known).with_for_update()), revision)
            after = replace(before, **changes, revision=before.revision + 1)
            if loosens(before, after, _read_recipients(transaction, link_id), request):
                after = limited(after, _known(tenure), is_wanted=request.get("expiresAt") is not None)
            elif tenure is None and any(member in request for member in OWN):
                raise ApiError(CREATOR_ONLY)
            _require_allowed(policy, after)
            columns = after.columns.items()
            values = {name: value for name, value in columns if name not in _COUNTED}
            transaction.execute(update(links).where(known).values(values))
            if "audience" in request:
                _put_recipients(transaction, link_id, request["audience"][1])
        self._audit("update", after)
        return self.get(tenant_id, link_id)

    def delete(self, tenant_id: str, link_id: str, revision: int | None = None) -> None:
        """Delete a share with its records. Its URL is dead at once.

        Raises:
            ApiError: there is none, the caller may not manage it, or it has another revision.
        """
        link = self._managed(tenant_id, link_id)
        with self._host.database.write() as transaction:
            locked = select(links).where(links.c.id == link_id).with_for_update()
            current(transaction.first(locked), revision)
            if not remove(transaction, [link_id]):
                raise ApiError(UNKNOWN)
        self._audit("delete", link)

    def of_file(self, tenant_id: str, file_id: str, query: Json) -> ResultPage[SharedLink]:
        """Return a page of the shares of a file or folder that the caller manages, the newest first.

        Raises:
            ApiError: the caller does not manage it.
        """
        if self._host.files.stat(tenant_id, file_id).permission != "manage":
            raise ApiError(FORBIDDEN)
        condition = (links.c.tenant_id == tenant_id) & (links.c.file_id == file_id)
        return self._page(condition, query).map(self._reader(tenant_id))

    def of_tenant(self, tenant_id: str, query: Json) -> ResultPage[SharedLink]:
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
        find = self._page if query["stale"] is None else self._by_state
        return find(condition, query).map(self._reader(tenant_id))

    def with_me(self, query: Json) -> ResultPage[SharedLink]:
        """Return a page of the shares for the caller: as a named user, or as a member of a tenant."""
        me = self._host.users.me().id
        tenants = self._tenants()
        named = links.c.id.in_(select(recipients.c.link_id).where(recipients.c.user_id == me))
        of_members = (links.c.audience == Audience.MEMBERS) & links.c.tenant_id.in_(tenants)
        condition = or_((links.c.audience == Audience.USERS) & named, of_members)
        results = [
            shared
            for shared in self._newest(condition & (links.c.maker_id != me))
            if shared.state is State.ACTIVE
        ]
        return self._newest_page(results, query)

    def _tenants(self) -> list[str]:
        tenants: list[str] = []
        number: int | None = 1
        while number is not None:
            page = self._host.tenants.list(page=number, size=_TENANTS_AT_ONCE)
            tenants += [tenant.id for tenant in page.items]
            number = page.next
        return tenants

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
        if row is None or not self._may_manage(Link.from_row(row)):
            raise ApiError(UNKNOWN)
        return Link.from_row(row)

    def _may_manage(self, link: Link) -> bool:
        """Return whether the caller manages the file, made the share, or administers the tenant."""
        try:
            if self._host.files.stat(link.tenant_id, link.file_id).permission == "manage":
                return True
        except ApiError:
            # The file is gone, or out of reach; the creator must still be able to delete the share.
            pass
        role = self._role(link.tenant_id)
        return role == "admin" or (role is not None and link.creator_id == self._caller())

    def _caller(self) -> str:
        # Not host.users.me(), for which an access key needs a scope of its own. Routes require a user.
        caller = self._host.caller
        return caller.user_id if caller else ""

    def _tenure(self, link: Link) -> Tenure | None:
        """Return how long the caller answers for a share; ``None`` unless creator or administrator."""
        if not self._is_trusted(link):
            return None
        try:
            return self._host.files.tenure(link.tenant_id, link.file_id)
        except ApiError:
            # The file is gone, or out of reach. The share is closed, so it can be changed without harm.
            caller = self._host.caller
            return Tenure(None, caller.key_id if caller else None)

    def _is_trusted(self, link: Link) -> bool:
        """Return whether the caller is the creator of a share, or administers its tenant."""
        return link.creator_id == self._caller() or self._role(link.tenant_id) == "admin"

    def _reader(self, tenant_id: str) -> Callable[[SharedLink], SharedLink]:
        """Return the function that returns a share without the secrets that the caller may not read.

        With the URL, other users, the holder of a key and an administrator who impersonates the creator
        could open a share longer than they may read the file.
        """
        is_admin, caller = self._role(tenant_id) == "admin", self._host.caller

        def readable(item: SharedLink) -> SharedLink:
            may_read = (
                caller is not None
                and caller.actor_id is None
                and (is_admin or item.link.creator_id == caller.user_id)
                and caller.key_id in (None, item.link.key_id)
            )
            return item if may_read else replace(item, secret=None)

        return readable

    def _new(
        self, tenant_id: str, file_id: str, creator_id: str, secret: str, policy: Policy, request: Json
    ) -> Link:
        now, drop = self._host.clock.now(), request["drop"]
        password, (audience, _) = request["password"], request["audience"]
        return Link(
            id=str(uuid.uuid4()),
            tenant_id=tenant_id,
            file_id=file_id,
            creator_id=creator_id,
            kind=request["kind"],
            sealed_secret=self._host.secrets.seal(secret) if self._options.secrets_readable else None,
            label=request["label"],
            password_hash=self._host.secrets.hash_password(password) if password else None,
            expires_at=self._end(policy, request["expiresAt"]),
            max_downloads=request["maxDownloads"],
            downloads=0,
            audience=audience,
            notify=request["notify"],
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
            key_id=None,
            closed_at=None,
            checked_sequence=self._states.newest_change(tenant_id),
        )

    def _changes(self, link: Link, policy: Policy, request: Json) -> Json:
        """Return the fields that a change has, without the revision."""
        values: dict[str, Any] = {
            field: request[name] for name, field in _CHANGEABLE.items() if name in request
        }
        if "password" in request:
            password = request["password"]
            values["password_hash"] = self._host.secrets.hash_password(password) if password else None
        if "expiresAt" in request:
            values["expires_at"] = self._end(policy, request["expiresAt"])
        if "audience" in request:
            values["audience"] = request["audience"][0]
        now = self._host.clock.now()
        if "closed" in request:
            values["closed_at"] = now if request["closed"] else None
            values["checked_sequence"] = self._states.newest_change(link.tenant_id)
        return values | {"updated_at": now}

    def _end(self, policy: Policy, requested: int | None) -> int | None:
        """Return when a share ends: as wanted, or the latest that the policy allows."""
        now = self._host.clock.now()
        latest = None if policy.lifetime is None else now + policy.lifetime
        if requested is None:
            return latest
        if requested <= now or (latest is not None and requested > latest):
            message = f"Must be in the future, and within {policy.max_lifetime_days} days."
            raise ApiError(POLICY, details=[FieldError("expiresAt", "out-of-range", message)])
        return requested

    def _page(self, condition: Any, query: Json) -> ResultPage[SharedLink]:
        with self._host.database.read() as transaction:
            page = transaction.page(_ordered(condition), query)
        return page.map(lambda row: self._shown(Link.from_row(row)))

    def _newest_page(self, shared: list[SharedLink], query: Json) -> ResultPage[SharedLink]:
        def key(item: SharedLink) -> tuple[int, str]:
            return item.link.created_at, item.link.id

        return self._host.lists.page(shared, query, key, descending=True)

    def _by_state(self, condition: Any, query: Json) -> ResultPage[SharedLink]:
        results = [
            shared
            for shared in self._newest(condition)
            if (shared.state is not State.ACTIVE) is query["stale"]
        ]
        return self._newest_page(results, query)

    def _newest(self, condition: Any) -> list[SharedLink]:
        # The state depends on other tables of the server, so it is no condition of the query.
        with self._host.database.read() as transaction:
            rows = transaction.all(_ordered(condition).limit(_AT_ONCE))
        return [self._shown(Link.from_row(row)) for row in rows]

    def _shown(self, link: Link) -> SharedLink:
        with self._host.database.read() as transaction:
            policy = self._policies.find(transaction, link.tenant_id)
            users = _read_recipients(transaction, link.id)
        state, file = self._states.find(link, policy)
        secret = self._host.secrets.unseal(link.sealed_secret) if link.sealed_secret else None
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
    return select(links).where(condition).order_by(links.c.created_at.desc(), links.c.id.desc())


def _require_allowed(policy: Policy, link: Link) -> None:
    """Check a new or changed share against the policy."""
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


def _known(tenure: Tenure | None) -> Tenure:
    if tenure is None:
        raise ApiError(CREATOR_ONLY)
    return tenure


def _read_recipients(transaction: Transaction, link_id: str) -> Sequence[str]:
    named = select(recipients.c.user_id).where(recipients.c.link_id == link_id)
    return transaction.scalars(named.order_by(recipients.c.user_id))


def _put_recipients(transaction: Transaction, link_id: str, user_ids: Sequence[str]) -> None:
    transaction.execute(delete(recipients).where(recipients.c.link_id == link_id))
    if user_ids:
        rows = [{"link_id": link_id, "user_id": user_id} for user_id in user_ids]
        transaction.execute(insert(recipients), rows)


def remove(transaction: Transaction, link_ids: Sequence[str]) -> int:
    """Delete shares with all their records; return how many shares existed."""
    lock(transaction, link_ids)
    for name in ("people", "openings", "downloads", "uploads", "folders"):
        table = metadata.tables[f"share_links_{name}"]
        transaction.execute(delete(table).where(table.c.link_id.in_(link_ids)))
    return transaction.execute(delete(links).where(links.c.id.in_(link_ids)))
