"""Verifies the access keys that requests present.

A key costs no query of its own: the first query of the request reads the key's row as well, and
:class:`PresentedKey` decides by it. That query needs the user's id, which a key does not contain. The
owner of a key never changes, so the ids are cached; everything else is read in each request.
"""

import hmac
import logging
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from sqlalchemy.exc import SQLAlchemyError

from strongroom.clock import Clock
from strongroom.foundation.addresses import get_network, parse_address, parse_network
from strongroom.foundation.cache import Cache
from strongroom.foundation.caller import Caller, Identity, KeyLimits, KeyUse
from strongroom.foundation.config.rates import Rate
from strongroom.foundation.database import Database
from strongroom.foundation.errors import Forbidden, StrongroomError, TokenInvalid
from strongroom.foundation.limits.service import Allowance, RateLimits
from strongroom.foundation.scopes import parse_scopes
from strongroom.identity.access_keys.secrets import KeyText, parse_key
from strongroom.identity.access_keys.store import KEY_COLUMNS, AccessKeyStore, KeyRow

HOUR: Final = 3_600_000
_OWNERS: Final = 4096
_SUSPECTS: Final = 4096

logger = logging.getLogger(__name__)


class WrongKeys:
    """Limits wrong keys per address, like wrong passwords.

    They are not limited per account: a key's id is no secret, so anyone could lock the owner out, and a
    secret of 256 bits cannot be guessed.

    Args:
        rates: the rates of ``limits.wrong_keys_per_address``.
    """

    def __init__(self, limits: RateLimits, rates: Sequence[Rate]) -> None:
        self._limits = limits
        self._rates = rates
        # The limit is tested only for addresses that have sent a wrong key to this process, so that the
        # requests of all others need no query for it.
        self._suspects: Cache[str, bool] = Cache(_SUSPECTS)

    def require_unblocked(self, address: str | None) -> None:
        """Check that an address has not sent too many wrong keys.

        Raises:
            TooManyRequests: it has; even a right key is not checked.
        """
        network = get_network(address or "")
        if self._suspects.get(network):
            self._limits.require(self._allowance(network))

    def count(self, address: str | None) -> None:
        """Count a wrong key.

        Raises:
            TooManyRequests: the address has sent too many.
        """
        network = get_network(address or "")
        # Marked before the limit is spent, so that the next request is tested even if this one is
        # refused.
        self._suspects.put(network, value=True)
        self._limits.spend(self._allowance(network))

    def _allowance(self, network: str) -> Allowance:
        return Allowance("wrong-keys", network, self._rates)


class PresentedKey:
    """An access key that a request presents, to be decided by the key's row.

    Implements :class:`strongroom.foundation.caller.KeyProof`.
    """

    def __init__(
        self, key: KeyText, address: str | None, use: KeyUse, now: int, wrong: WrongKeys
    ) -> None:
        self.key_id = key.id
        self._hash = key.hash
        self._address = address
        self._use = use
        self._now = now
        self._wrong = wrong

    def check(self, row: Sequence[Any]) -> tuple[int | None, str, KeyLimits]:
        """Return the time of the last use, the type of the user and the limits of the key.

        Args:
            row: the columns of ``store.good_key()``; all are ``None`` if there is no such key.

        Raises:
            TokenInvalid: the key is wrong, has ended or was revoked, or its user is not active.
            TooManyRequests: it is one of too many wrong keys.
            Forbidden: the key may not be used from this address, or for this tenant.
            InsufficientScope: the key lacks the scope of the operation.
        """
        key = KeyRow._make(row)
        if key.secret_hash is None or not self._is_secret(key):
            self._wrong.count(self._address)
            raise TokenInvalid
        # Not counted as wrong: a forgotten program must not lock out the others of its address.
        if key.user_type is None or key.expires_at <= self._now:
            raise TokenInvalid
        if key.addresses and not _is_within(self._address, tuple(key.addresses)):
            raise Forbidden("The access key may not be used from this address.")
        scopes = parse_scopes(key.scopes)
        limits = KeyLimits(
            self.key_id,
            scopes,
            key.key_tenant_id,
            key.key_folder_id,
            key.max_permission,
            key.expires_at,
        )
        return key.last_used_at, key.user_type, limits.for_use(self._use)

    def _is_secret(self, key: KeyRow) -> bool:
        # Not short-circuited, so that the time does not depend on the stored hashes.
        is_current = hmac.compare_digest(key.secret_hash or "", self._hash)
        is_previous = hmac.compare_digest(key.previous_hash or "", self._hash)
        return is_current or (is_previous and (key.previous_until or 0) > self._now)


@lru_cache(maxsize=1024)
def _is_within(address: str | None, networks: tuple[str, ...]) -> bool:
    parsed = parse_address(address or "")
    return parsed is not None and any(parsed in parse_network(network) for network in networks)


class AccessKeyAuthenticator:
    """Implements :class:`strongroom.web.http.access.KeyAuthenticator`."""

    def __init__(self, database: Database, clock: Clock, keys: AccessKeyStore, wrong: WrongKeys) -> None:
        self._database = database
        self._clock = clock
        self._keys = keys
        self._wrong = wrong
        # The user of a key never changes. Whether the key is still valid is never cached: the first
        # query of each request reads it.
        self._owners: Cache[str, str] = Cache(_OWNERS)

    def caller(self, text: str, address: str | None, use: KeyUse) -> Caller:
        """Return the user of a presented key, which the first query of the request has to verify.

        Raises:
            TokenInvalid: the text is no access key, or there is none with its id.
            TooManyRequests: the address has sent too many wrong keys.
        """
        self._wrong.require_unblocked(address)
        key = parse_key(text)
        user_id = None if key is None else self._owner(key.id)
        if key is None or user_id is None:
            self._wrong.count(address)
            raise TokenInvalid
        proof = PresentedKey(key, address, use, self._clock.now(), self._wrong)
        return Caller(user_id, key.id, address, proof)

    def identify(self, caller: Caller) -> Identity:
        """Verify the key of a caller, and return the caller's identity.

        Raises:
            TokenInvalid: the key is wrong, has ended or was revoked.
            Forbidden: the key may not be used for this request.
        """
        with self._database.read_one() as connection:
            row = self._keys.good(connection, caller.authorization_id, caller.user_id)
        return caller.confirm_key(row if row is not None else [None] * KEY_COLUMNS)

    def note_seen(self, caller: Caller) -> None:
        """Record the use of a verified key, at most once per hour.

        Uses a separate transaction. A failure is logged and does not fail the request.
        """
        # Rounded to hours, so that a busy key costs one write an hour.
        now = self._clock.now()
        hour = now - now % HOUR
        if caller.last_seen_at is not None and caller.last_seen_at >= hour:
            return
        try:
            # Non-durable: what a power failure loses, the next use of the key records again.
            with self._database.write(durable=False) as connection:
                self._keys.note_used(connection, caller.authorization_id, hour, caller.address)
        except (StrongroomError, SQLAlchemyError):
            logger.warning("Cannot record the use of an access key", exc_info=True)

    def _owner(self, key_id: str) -> str | None:
        user_id = self._owners.get(key_id)
        if user_id is None:
            with self._database.read_one() as connection:
                user_id = self._keys.owner(connection, key_id)
            if user_id is not None:
                self._owners.put(key_id, user_id)
        return user_id
