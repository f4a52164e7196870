"""The credentials of users: binds, finds and releases them."""

import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, Final

from sqlalchemy import (
    Connection,
    and_,
    bindparam,
    delete,
    func,
    insert,
    select,
    tuple_,
    update,
)
from sqlalchemy.exc import IntegrityError

from strongroom.clock import Clock
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import CredentialTaken
from strongroom.foundation.ids import new_id
from strongroom.identity.users.accounts import HOLDER, NAMED
from strongroom.identity.users.credential_changes import note_change, note_exempt, noted_time
from strongroom.identity.users.identifiers import identify
from strongroom.identity.users.models import (
    SINGLE_KINDS,
    BoundCredential,
    credentials,
    passwords,
    users,
)
from strongroom.identity.users.passwords import remove_password
from strongroom.identity.users.user_index import note_changed
from strongroom.plugin_api.login import Credential

MAX_NAME_LENGTH: Final = 1024

_HOLDER_OF: Final = Statement(HOLDER)
_WRITTEN: Final = (credentials.c.kind, credentials.c.value, credentials.c.written)
_SELECT_NAMED: Final = select(*_WRITTEN, credentials.c.user_id).where(NAMED)
_NAMED_HOLDER: Final = Statement(_SELECT_NAMED)
_VERIFIED_HOLDER: Final = Statement(HOLDER.where(credentials.c.is_verified))
_LOCKED_HOLDER: Final = Statement(_SELECT_NAMED.with_for_update())
_PAIRS: Final = tuple_(credentials.c.kind, credentials.c.value).in_(bindparam("pairs", expanding=True))
_SELECT_HOLDERS: Final = select(*_WRITTEN, credentials.c.user_id).where(_PAIRS)
_HOLDERS: Final = Statement(_SELECT_HOLDERS)
# The lock order of lock_user(), so that two transactions cannot deadlock.
_LOCKED_HOLDERS: Final = Statement(_SELECT_HOLDERS.order_by(credentials.c.id).with_for_update())
_OF_USER: Final = credentials.c.user_id == bindparam("of_user")
_BIND: Final = Statement(insert(credentials))
_VERIFY: Final = Statement(
    update(credentials).where(NAMED, credentials.c.is_verified.is_(False)).values(is_verified=True)
)
_CREDENTIALS: Final = Statement(
    select(credentials).where(_OF_USER).order_by(credentials.c.id), BoundCredential
)
# Ordered, so that two transactions that lock the same rows cannot deadlock.
_LOCK_USER: Final = Statement(
    select(credentials.c.id).where(_OF_USER).order_by(credentials.c.id).with_for_update()
)
_RELEASE_ONE: Final = Statement(delete(credentials).where(_OF_USER, NAMED))
_RELEASE: Final = Statement(delete(credentials).where(_OF_USER, credentials.c.kind == bindparam("kind")))
_RELEASE_ALL: Final = Statement(delete(credentials).where(_OF_USER))
_IS_SINGLE: Final = and_(credentials.c.user_id == users.c.id, credentials.c.kind.in_(SINGLE_KINDS))
_LOGIN_NAMES: Final = Statement(
    select(
        users.c.id,
        passwords.c.hash.is_not(None).label("has_password"),
        passwords.c.change_required,
        credentials.c.kind,
        func.coalesce(credentials.c.written, credentials.c.value),
        credentials.c.is_verified,
    )
    .select_from(users)
    .outerjoin(passwords, passwords.c.user_id == users.c.id)
    .outerjoin(credentials, _IS_SINGLE)
    .where(users.c.id.in_(bindparam("user_ids", expanding=True)))
)

BoundListener = Callable[[Connection, str, Credential], None]


class CredentialService:
    """Credentials of users.

    Args:
        default_region: the region whose mobile numbers need no country code.
    """

    def __init__(self, clock: Clock, default_region: str) -> None:
        self._clock = clock
        self._default_region = default_region
        self._bound: list[BoundListener] = []

    def on_bound(self, listener: BoundListener) -> None:
        """Call a listener in the transaction of each new verified credential, with its user."""
        self._bound.append(listener)

    def identify(self, text: str) -> Credential | None:
        """Return the normalised e-mail address, mobile number or username in ``text``, if any."""
        return identify(text, self._default_region)

    def canonical_name(self, text: str) -> str:
        """Return the canonical form of a credential; unrecognised text is normalised too."""
        credential = self.identify(text)
        if credential is not None:
            return f"{credential.kind}:{credential.value}"
        return unicodedata.normalize("NFKC", text[:MAX_NAME_LENGTH]).strip().casefold()

    def find_users(
        self, connection: Connection, identifiers: Sequence[Credential], *, for_update: bool = False
    ) -> dict[Credential, str]:
        """Return the ids of the holders of any of the credentials, by credential as its holder wrote it.

        Args:
            for_update: whether to lock the rows that are found until the transaction ends.
        """
        if len(identifiers) == 1:
            # The usual case: a statement of its own, which is faster.
            named = {"kind": identifiers[0].kind, "value": identifiers[0].value}
            rows = (_LOCKED_HOLDER if for_update else _NAMED_HOLDER).all(connection, named)
        else:
            pairs = [(item.kind, item.value) for item in identifiers]
            rows = (_LOCKED_HOLDERS if for_update else _HOLDERS).all(connection, {"pairs": pairs})
        return {Credential(*names): user_id for *names, user_id in rows}

    def find_verified(self, connection: Connection, credential: Credential) -> str | None:
        """Return the id of the user who holds a credential, unless it is not verified."""
        named = {"kind": credential.kind, "value": credential.value}
        user_id: str | None = _VERIFIED_HOLDER.scalar(connection, named)
        return user_id

    def of_user(self, connection: Connection, user_id: str) -> list[BoundCredential]:
        """Return the credentials of a user, oldest first."""
        return _CREDENTIALS.all(connection, {"of_user": user_id})

    def bind(
        self,
        connection: Connection,
        user_id: str,
        credential: Credential,
        *,
        is_verified: bool = True,
        is_origin: bool = False,
        bound_at: int | None = None,
    ) -> None:
        """Bind a credential to a user, whose proof has verified it unless ``is_verified`` is false.

        Args:
            is_origin: whether the account comes with it, from its platform.
            bound_at: milliseconds since the Unix epoch of its former binding; ``None``: it is new.

        Raises:
            CredentialTaken: it is bound already, or the user may have only one of this kind.
        """
        note_change(connection, user_id)
        row = {
            "id": new_id(),
            "user_id": user_id,
            "kind": credential.kind,
            "value": credential.value,
            "created_at": bound_at or noted_time(connection, user_id, credential) or self._clock.now(),
            "is_verified": is_verified,
            "is_origin": is_origin,
            "written": credential.written,
        }
        try:
            # A savepoint: on PostgreSQL, a failed INSERT would otherwise abort the whole transaction.
            with connection.begin_nested():
                _BIND.execute(connection, row)
        except IntegrityError as error:
            raise CredentialTaken.of_field(credential.kind, "taken", CredentialTaken.message) from error
        _note_changed(connection, user_id, credential.kind)
        if is_verified:
            self.report_bound(connection, user_id, credential)

    def report_bound(self, connection: Connection, user_id: str, credential: Credential) -> None:
        """Call the listeners of a new verified credential that :class:`BulkUsers` has bound."""
        for listener in self._bound:
            listener(connection, user_id, credential)

    def verify(self, connection: Connection, credential: Credential) -> None:
        """Record that the holder of a credential has proven it; nothing else changes."""
        named = {"kind": credential.kind, "value": credential.value}
        if _VERIFY.execute(connection, named) == 1:
            self.report_bound(connection, _HOLDER_OF.scalar(connection, named), credential)

    def lock_user(self, connection: Connection, user_id: str) -> None:
        """Block other changes to this user's credentials until the transaction ends."""
        _LOCK_USER.all(connection, {"of_user": user_id})

    def release_one(self, connection: Connection, user_id: str, credential: Credential) -> None:
        """Delete one credential of a user."""
        named = {"kind": credential.kind, "value": credential.value}
        note_change(connection, user_id)
        _RELEASE_ONE.execute(connection, {"of_user": user_id, **named})
        _note_changed(connection, user_id, credential.kind)

    def release(self, connection: Connection, user_id: str, kind: str) -> None:
        """Delete a user's credentials of a kind."""
        note_change(connection, user_id)
        _RELEASE.execute(connection, {"of_user": user_id, "kind": kind})
        _note_changed(connection, user_id, kind)

    def release_all(self, connection: Connection, user_id: str) -> None:
        """Delete all credentials of a user who is deleted, and the password."""
        note_exempt(connection, user_id)
        _RELEASE_ALL.execute(connection, {"of_user": user_id})
        remove_password(connection, user_id)
        note_changed(connection, user_id)

    def find_login_names(
        self, connection: Connection, user_ids: Sequence[str]
    ) -> dict[str, dict[str, Any]]:
        """Return what users log in by: per user, the e-mail address, mobile number and username by kind.

        ``email_verified`` and ``mobile_verified`` are false without a contact of this kind, too;
        ``has_password`` and ``password_change_required`` are about the password.
        """
        names: dict[str, dict[str, Any]] = {}
        for user_id, has_password, change_required, kind, value, is_verified in _LOGIN_NAMES.all(
            connection, {"user_ids": user_ids}
        ):
            password = {
                "has_password": bool(has_password),
                "password_change_required": bool(change_required),
            }
            own = names.setdefault(user_id, password)
            own |= {kind: value, f"{kind}_verified": bool(is_verified)} if kind else {}
        return names


def _note_changed(connection: Connection, user_id: str, kind: str) -> None:
    if kind in SINGLE_KINDS:
        note_changed(connection, user_id)
