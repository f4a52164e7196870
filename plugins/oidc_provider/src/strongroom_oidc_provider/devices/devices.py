"""Devices that wait for their users to log in elsewhere (RFC 8628)."""

import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import and_, delete, insert, select, update

from strongroom.plugin_api.browser import BrowserSession
from strongroom.plugin_api.host import HostAPI
from strongroom_oidc_provider.models import Device, devices

SECONDS: Final = 600
"""The lifetime of both codes."""

PAUSE: Final = 5
"""The seconds between two requests of a device; each request that is earlier adds as many."""

# No vowels, so that a code is no word, and no letters that look like others (RFC 8628, section 6.1).
_LETTERS: Final = "BCDFGHJKLMNPQRSTVWXZ"
_LENGTH: Final = 8
_BYTES: Final = 32


class Poll(StrEnum):
    """What a device learns."""

    UNKNOWN = "unknown"
    EXPIRED = "expired"
    PENDING = "pending"
    EARLY = "early"
    REFUSED = "refused"
    ALLOWED = "allowed"


@dataclass(slots=True, eq=False, repr=False)
class Devices:
    """Issues, finds and consumes the codes of devices. The table has their hashes."""

    _host: HostAPI

    def issue(self, values: Mapping[str, Any]) -> tuple[str, str]:
        """Return the code of a device, and the one that its user enters."""
        device_code, now = secrets.token_urlsafe(_BYTES), self._host.clock.now()
        with self._host.database.write(lock="devices") as tx:
            user_code = _make_user_code()
            while tx.scalar(select(devices.c.hash).where(self._has_code(user_code))) is not None:
                user_code = _make_user_code()
            state = {"status": "pending", "pause": PAUSE, "expires_at": now + SECONDS * 1000}
            codes = {"hash": _hash(device_code), "user_code": self._host.secrets.keyed_hash(user_code)}
            tx.execute(insert(devices), [{**values, **state, **codes}])
        return device_code, f"{user_code[:4]}-{user_code[4:]}"

    def find(self, user_code: str) -> Device | None:
        """Return the device of a code that a user has entered; ``None`` if none waits."""
        code = re.sub("[^A-Z]", "", user_code.upper())
        waits = and_(devices.c.status == "pending", devices.c.expires_at > self._host.clock.now())
        with self._host.database.read() as tx:
            row = tx.first(select(devices).where(self._has_code(code), waits))
        return None if row is None else Device.from_row(row)

    def decide(self, device_hash: str, session: BrowserSession, *, is_allowed: bool) -> Device | None:
        """Allow or refuse a device, once; return it, or ``None`` if it does not wait any more."""
        ours = devices.c.hash == device_hash
        waits = and_(devices.c.status == "pending", devices.c.expires_at > self._host.clock.now())
        values = {
            "status": "allowed" if is_allowed else "refused",
            "user_id": session.user_id,
            "login_id": session.login_id,
        }
        with self._host.database.write() as tx:
            if not tx.execute(update(devices).where(ours, waits).values(values)):
                return None
            device = Device.from_row(tx.first(select(devices).where(ours)))
            action = "device-allow" if is_allowed else "device-refuse"
            about = {"address": device.address}
            self._host.audit(action, "client", device.client_id, about, transaction=tx)
        return device

    def poll(self, device_code: str, client_id: str) -> tuple[Poll, Device | None]:
        """Return what a device of a client learns; an allowed one is used up."""
        now = self._host.clock.now()
        ours = and_(devices.c.hash == _hash(device_code), devices.c.client_id == client_id)
        with self._host.database.write() as tx:
            row = tx.first(select(devices).where(ours).with_for_update())
            if row is None or row.status == "used":
                return Poll.UNKNOWN, None
            if row.expires_at <= now:
                return Poll.EXPIRED, None
            if row.status == "refused":
                return Poll.REFUSED, None
            if row.status == "allowed":
                used = update(devices).where(ours, devices.c.status == "allowed").values(status="used")
                is_first = tx.execute(used) == 1
                return (Poll.ALLOWED, Device.from_row(row)) if is_first else (Poll.UNKNOWN, None)
            is_early = row.polled_at is not None and now - row.polled_at < row.pause * 1000
            pause = row.pause + PAUSE if is_early else row.pause
            tx.execute(update(devices).where(ours).values(polled_at=now, pause=pause))
        return Poll.EARLY if is_early else Poll.PENDING, None

    def prune(self) -> int:
        """Delete codes that have expired; return their number."""
        with self._host.database.write() as tx:
            return tx.execute(delete(devices).where(devices.c.expires_at <= self._host.clock.now()))

    def _has_code(self, user_code: str) -> Any:
        return devices.c.user_code == self._host.secrets.keyed_hash(user_code)


def _make_user_code() -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()
