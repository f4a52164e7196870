"""The rules of each change of a contact, a username, a platform login, a password or a second factor.

The stores of these tables note the state of a user before the first write of a transaction
(:func:`note_change`). A transaction with a noted change commits only after
:meth:`CredentialChanges.settle`, which compares both states and applies :data:`RULES`. So a rule follows
the effect, and not the route that caused it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from sqlalchemy import BindParameter, Connection, bindparam, delete, select

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.foundation.caller import Origin
from strongroom.foundation.database.deferred import defer
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.database.transaction_state import after_commit, get_transaction_state
from strongroom.identity.users.account_links import AccountLinks
from strongroom.identity.users.models import (
    EMAIL,
    MOBILE,
    SINGLE_KINDS,
    USERNAME,
    credentials,
    passwords,
    second_factors,
)
from strongroom.plugin_api.contacts import masked
from strongroom.plugin_api.login import Credential

_KEY: Final = __name__


class Effect(StrEnum):
    """What a change does to the login of a user."""

    CONTACT = "contact"
    VERIFICATION = "verification"
    """What an administrator says of a contact: that it is proven, or not. A proof is no change."""
    USERNAME = "username"
    PLATFORM_LOGIN = "platform-login"
    PASSWORD = "password"  # noqa: S105  the name of an effect
    FACTOR = "factor"


class Rule(StrEnum):
    """What a change requires, whichever route has made it."""

    INFORM_CURRENT = "inform-current"
    """The contacts that the user holds afterwards."""
    INFORM_FORMER = "inform-former"
    """The contact that was replaced or removed."""
    RECORD = "record"
    """An audit record that names the change and the actor."""
    VOID_CODES = "void-codes"
    """The open codes of the former contact or, for a password, of all contacts."""
    VOID_LINKS = "void-links"
    """Links that reset the password; those to a former contact; for a password, all links."""
    VOID_TEMPORARY_PASSWORD = "void-temporary-password"  # noqa: S105  the name of a rule
    """A temporary password that was given before."""


_ALWAYS: Final = frozenset({Rule.INFORM_CURRENT, Rule.RECORD, Rule.VOID_LINKS})
_VOID_PASSWORD: Final = Rule.VOID_TEMPORARY_PASSWORD

RULES: Final[Mapping[Effect, frozenset[Rule]]] = MappingProxyType(
    {
        Effect.CONTACT: _ALWAYS | {Rule.INFORM_FORMER, Rule.VOID_CODES, _VOID_PASSWORD},
        Effect.VERIFICATION: _ALWAYS | {Rule.VOID_CODES},
        Effect.USERNAME: _ALWAYS | {_VOID_PASSWORD},
        Effect.PLATFORM_LOGIN: _ALWAYS | {_VOID_PASSWORD},
        Effect.PASSWORD: _ALWAYS | {Rule.VOID_CODES, _VOID_PASSWORD},
        Effect.FACTOR: _ALWAYS | {_VOID_PASSWORD},
    }
)
"""The rules of each effect."""


@dataclass(frozen=True, slots=True)
class LoginChange:
    """A difference between the states of a user before and after a transaction.

    Args:
        kind: the kind of the credential, or the name of the factor; empty for a password.
        former: the value of before; ``None``: something was added.
        current: the value of now; ``None``: something was removed.
        name: the name that the user gave to a factor.
        is_verified: what was said of a contact; ``None``: nothing.
    """

    effect: Effect
    kind: str = ""
    former: str | None = None
    current: str | None = None
    name: str = ""
    is_temporary: bool = False
    is_verified: bool | None = None

    @property
    def shown(self) -> dict[str, str]:
        """The former and the current value as others may see them."""
        # An id at a platform says nothing to its user, and is personal data to others.
        if self.effect not in (Effect.CONTACT, Effect.VERIFICATION, Effect.USERNAME):
            return {}
        values = {"former": self.former, "current": self.current}
        show = str if self.effect is Effect.USERNAME else masked
        return {name: show(value) for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ChangedBy:
    """The actor of a change, and its circumstances.

    Args:
        actor_id: the user who acts; ``None``: the command line of the server.
        actions: the actions of audit records that replace the usual ones.
        details: further details of the audit records.
        informs: whether the user is informed. Only a platform that has proven the same user before adds
            a login of its own silently.
        restores: whether a former address was restored, which cannot be undone by its successor.
    """

    actor_id: str | None
    origin: Origin = field(default_factory=Origin)
    actions: Mapping[Effect, str] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)
    informs: bool = True
    restores: bool = False


@dataclass(frozen=True, slots=True)
class SettledChange:
    """The changes of one user that a transaction has settled.

    Args:
        contacts: the contacts to inform: the former and the present ones.
        former: the former contacts that the user has no longer.
        restorable: the former contacts that were verified.
        bound_at: when each verified contact of before was bound, in milliseconds since the Unix epoch.
    """

    user_id: str
    changes: Collection[LoginChange]
    contacts: Collection[Credential]
    former: Collection[Credential]
    restorable: Collection[Credential]
    bound_at: Mapping[Credential, int]
    by: ChangedBy

    def successor(self, former: Credential) -> str | None:
        """Return the value that has replaced a contact; ``None``: it was removed."""
        pair = former.kind, former.value
        changes = (item for item in self.changes if (item.kind, item.former) == pair)
        return next((change.current for change in changes), None)


@dataclass(frozen=True, slots=True)
class _State:
    """How a user logs in.

    Args:
        credentials: whether each credential is verified.
        bound_at: when each was bound, in milliseconds since the Unix epoch.
        password: the hash, and the end of a temporary one; ``None`` without a password.
        factors: the factor and the name of each enrolment, by its id.
    """

    credentials: Mapping[Credential, bool]
    bound_at: Mapping[Credential, int]
    password: tuple[str, int | None] | None
    factors: Mapping[str, tuple[str, str]]

    @property
    def compared(self) -> tuple[object, ...]:
        """What makes a change: not another name of a factor."""
        return frozenset(self.credentials.items()), self.password, frozenset(self.factors)

    @property
    def contacts(self) -> list[Credential]:
        return [item for item in self.credentials if item.kind in (EMAIL, MOBILE)]


_OF_USER: Final[BindParameter[str]] = bindparam("of_user")
_CREDENTIALS: Final = Statement(
    select(
        credentials.c.kind,
        credentials.c.value,
        credentials.c.written,
        credentials.c.is_verified,
        credentials.c.created_at,
    )
    .where(credentials.c.user_id == _OF_USER)
    .order_by(credentials.c.id)
)
_PASSWORD: Final = Statement(
    select(passwords.c.hash, passwords.c.expires_at).where(passwords.c.user_id == _OF_USER)
)
_FACTORS: Final = Statement(
    select(second_factors.c.id, second_factors.c.factor, second_factors.c.name)
    .where(second_factors.c.user_id == _OF_USER)
    .order_by(second_factors.c.created_at, second_factors.c.id)
)
_VOID_TEMPORARY: Final = Statement(
    delete(passwords).where(passwords.c.user_id == _OF_USER, passwords.c.expires_at.is_not(None))
)


def note_change(connection: Connection, user_id: str) -> None:
    """Note the state of a user before a write. The transaction must settle the change."""
    noted = _noted(connection)
    if user_id not in noted:
        noted[user_id] = _read(connection, user_id)
        defer(connection, _require_settled, user_id)


def noted_time(connection: Connection, user_id: str, credential: Credential) -> int | None:
    """Return when a user had bound a credential before this transaction, which binds it again.

    Returns:
        milliseconds since the Unix epoch; ``None``: it is new.
    """
    before = _noted(connection).get(user_id)
    return None if before is None else before.bound_at.get(credential)


def note_exempt(connection: Connection, user_id: str) -> None:
    """Note that a user is new or deleted in this transaction, which has rules of its own."""
    _noted(connection)[user_id] = None


def _noted(connection: Connection) -> dict[str, _State | None]:
    noted: dict[str, _State | None] = get_transaction_state(connection).values.setdefault(_KEY, {})
    return noted


def _read(connection: Connection, user_id: str) -> _State:
    parameters = {"of_user": user_id}
    password = _PASSWORD.first(connection, parameters)
    rows = _CREDENTIALS.all(connection, parameters)
    return _State(
        {Credential(*names): proven for *names, proven, _ in rows},
        {Credential(*names): bound_at for *names, _, bound_at in rows},
        None if password is None else (password[0], password[1]),
        {key: (factor, name) for key, factor, name in _FACTORS.all(connection, parameters)},
    )


def _require_settled(connection: Connection, user_ids: Set[str]) -> None:
    """Refuse the commit of a change to which no rule was applied.

    The states are compared, because a savepoint may have undone the change.
    """
    noted = _noted(connection)
    for user_id in user_ids:
        before = noted.get(user_id)
        if before is not None and before.compared != _read(connection, user_id).compared:
            raise RuntimeError("a change of how a user logs in was not settled")


Void = Callable[[Connection, Credential], None]
"""Voids the codes that were sent to a contact."""

Inform = Callable[[Connection, SettledChange], Callable[[], object] | None]
"""Prepares the messages about a change; returns what sends them after the commit."""


class CredentialChanges:
    """Applies the rules of changes, within the caller's transaction."""

    def __init__(self, links: AccountLinks, audit: AuditService) -> None:
        self._links = links
        self._audit = audit
        self._void: list[Void] = []
        self._inform: list[Inform] = []

    def on_void(self, void: Void) -> None:
        """Register what voids the codes of a contact."""
        self._void.append(void)

    def on_settled(self, inform: Inform) -> None:
        """Register what informs users."""
        self._inform.append(inform)

    def settle(self, connection: Connection, by: ChangedBy) -> None:
        """Apply the rules to all changes of the transaction. The user is informed after the commit.

        Call it after the changes, and last, because the chain of audit records stays locked.
        """
        noted = _noted(connection)
        events: list[AuditEvent] = []
        for user_id in sorted(noted):
            before = noted[user_id]
            if before is None:
                continue
            del noted[user_id]
            after = _read(connection, user_id)
            if changes := [*_differences(before, after, is_own=by.actor_id == user_id)]:
                self._void_secrets(connection, user_id, before, after, changes)
                settled = _settled(user_id, before, after, changes, by)
                self._prepare_messages(connection, settled)
                events += (_event(user_id, change, by) for change in changes)
        if events:
            self._audit.record_all(connection, events)

    def _prepare_messages(self, connection: Connection, settled: SettledChange) -> None:
        if settled.by.informs:
            for inform in self._inform:
                if (send := inform(connection, settled)) is not None:
                    after_commit(connection, send)

    def _void_secrets(
        self,
        connection: Connection,
        user_id: str,
        before: _State,
        after: _State,
        changes: Collection[LoginChange],
    ) -> None:
        rules = frozenset[Rule]().union(*(RULES[change.effect] for change in changes))
        sets_password = any(change.effect is Effect.PASSWORD for change in changes)
        former = [item for item in before.contacts if _is_worth_less(item, before, after)]
        if Rule.VOID_CODES in rules:
            for contact in [*former, *(after.contacts if sets_password else ())]:
                for void in self._void:
                    void(connection, contact)
        if Rule.VOID_LINKS in rules:
            self._links.void_changed(connection, user_id, former, are_all=sets_password)
        if Rule.VOID_TEMPORARY_PASSWORD in rules and before.password == after.password:
            _VOID_TEMPORARY.execute(connection, {"of_user": user_id})


def _is_worth_less(contact: Credential, before: _State, after: _State) -> bool:
    return not after.credentials.get(contact, False) and (
        before.credentials[contact] or contact not in after.credentials
    )


def _differences(before: _State, after: _State, *, is_own: bool) -> Iterator[LoginChange]:
    yield from _changed_credentials(before, after)
    if not is_own:
        yield from _changed_verifications(before, after)
    if before.password != after.password:
        is_temporary = after.password is not None and after.password[1] is not None
        yield LoginChange(Effect.PASSWORD, is_temporary=is_temporary)
    added = {after.factors[key] for key in after.factors.keys() - before.factors.keys()}
    removed = {before.factors[key] for key in before.factors.keys() - after.factors.keys()}
    for factor, name in sorted(added):
        yield LoginChange(Effect.FACTOR, factor, current="", name=name)
    for factor, name in sorted(removed):
        # A new sheet of recovery codes replaces the one before.
        if factor not in {new for new, _ in added}:
            yield LoginChange(Effect.FACTOR, factor, former="", name=name)


def _changed_credentials(before: _State, after: _State) -> Iterator[LoginChange]:
    added = [item for item in after.credentials if item not in before.credentials]
    removed = [item for item in before.credentials if item not in after.credentials]
    for kind in sorted({item.kind for item in (*added, *removed)}):
        new, old = _values(added, kind), _values(removed, kind)
        for number in range(max(len(new), len(old))):
            former = old[number] if number < len(old) else None
            current = new[number] if number < len(new) else None
            yield LoginChange(_get_effect(kind), kind, former, current)


def _changed_verifications(before: _State, after: _State) -> Iterator[LoginChange]:
    for item in after.contacts:
        is_verified = after.credentials[item]
        if before.credentials.get(item, is_verified) != is_verified:
            effect, value = Effect.VERIFICATION, item.value
            yield LoginChange(effect, item.kind, former=value, current=value, is_verified=is_verified)


def _values(items: Iterable[Credential], kind: str) -> list[str]:
    return [item.value for item in items if item.kind == kind]


def _get_effect(kind: str) -> Effect:
    if kind == USERNAME:
        return Effect.USERNAME
    return Effect.CONTACT if kind in SINGLE_KINDS else Effect.PLATFORM_LOGIN


def _settled(
    user_id: str, before: _State, after: _State, changes: Collection[LoginChange], by: ChangedBy
) -> SettledChange:
    bound_at = {item: before.bound_at[item] for item in before.contacts if before.credentials[item]}
    former = [item for item in before.contacts if item not in after.credentials]
    restorable = [item for item in former if item in bound_at and not by.restores]
    contacts = [*dict.fromkeys((*before.contacts, *after.contacts))]
    return SettledChange(user_id, changes, contacts, former, restorable, bound_at, by)


_ADDED: Final = {Effect.PASSWORD: "password.change", Effect.FACTOR: "factor.add"}
_REMOVED: Final = {Effect.FACTOR: "factor.remove"}


def _action(change: LoginChange, by: ChangedBy) -> str:
    if change.effect in by.actions:
        return by.actions[change.effect]
    if change.current is None and change.effect is not Effect.PASSWORD:
        return _REMOVED.get(change.effect, "credential.unbind")
    return _ADDED.get(change.effect, "credential.bind")


def _event(user_id: str, change: LoginChange, by: ChangedBy) -> AuditEvent:
    details = dict(by.details)
    if change.effect is Effect.FACTOR:
        details["factor"] = change.kind
    elif change.effect is not Effect.PASSWORD:
        details |= {"kind": change.kind, **change.shown}
    if change.is_verified is not None:
        details["verified"] = str(change.is_verified).lower()
    return AuditEvent(
        _action(change, by),
        actor_id=by.actor_id,
        target_type="user",
        target_id=user_id,
        origin=by.origin,
        details=details,
    )
