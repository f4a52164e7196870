"""Locks (RFC 4918, sections 6 and 7): tokens, and reservations of names that do not exist yet.

A lock of a file or folder is one of the server, which all of its interfaces heed. A LOCK of a path that
does not exist reserves the name against other requests of WebDAV, and nothing is visible; the first PUT
makes the reservation a lock of the file.
"""

import hashlib
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Any, Final
from uuid import UUID, uuid4

from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.files import FileLock
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom_webdav.errors import DavError
from strongroom_webdav.requests import Path
from strongroom_webdav.resources import Place, Resource, Resources

MAX_NOTE: Final = 1024
"""The longest text about the owner of a lock, in characters."""

RESERVATIONS: Final = ("1000/hour",)
"""How many names a user may reserve."""

_SECOND: Final = 1000
_SCHEME: Final = "strongroom:"
_TOKEN: Final = re.compile(rf"{_SCHEME}([A-Za-z0-9_-]{{22}})")
_WRITERS: Final = ("write", "manage")


@dataclass(frozen=True, slots=True)
class LockRequest:
    """The lock that a client requests.

    Args:
        owner: a text about the person who locks.
    """

    seconds: int
    is_shared: bool
    is_deep: bool
    owner: str


@dataclass(frozen=True, slots=True)
class Reservation:
    """A name that does not exist yet, and that one user may use until ``expires_at``."""

    id: str
    user_id: str
    is_shared: bool
    is_deep: bool
    owner: str
    expires_at: int


def make_token(lock_id: str) -> str:
    """Return the lock token of a lock, a URI (RFC 4918, section 6.5).

    Shorter than a ``urn:uuid``, because clients have buffers for tokens together with entity tags.
    """
    return _SCHEME + urlsafe_b64encode(UUID(lock_id).bytes).decode().rstrip("=")


def find_lock_ids(tokens: Collection[str]) -> frozenset[str]:
    """Return the ids of the locks in lock tokens; tokens of other servers are left out."""
    matches = (_TOKEN.fullmatch(token) for token in tokens)
    return frozenset(str(UUID(bytes=urlsafe_b64decode(match[1] + "=="))) for match in matches if match)


@dataclass(frozen=True, slots=True)
class Locks:
    """The locks and reservations that the caller can see."""

    host: HostAPI

    def find(self, resource: Resource) -> Sequence[FileLock]:
        """Return the locks that cover a resource."""
        return self.find_all([resource]).get(resource.path, ())

    def find_all(self, resources: Sequence[Resource]) -> Mapping[Path, Sequence[FileLock]]:
        """Return the locks that cover resources, by their paths."""
        files = {item.file.id: item for item in resources if item.file is not None}
        if not files:
            return {}
        tenant_id = next(iter(files.values())).tenant_id
        locks = self.host.files.locks(tenant_id, [*files])
        return {files[file_id].path: items for file_id, items in locks.items()}

    def find_tokens(self, path: Path, resource: Resource | None) -> Collection[str]:
        """Return the tokens of the locks that cover a path, which may not exist."""
        if resource is not None:
            return [make_token(lock.id) for lock in self.find(resource)]
        if len(path) <= 1 or (folder := Resources(self.host).find_folder(path[:-1])) is None:
            return []
        reservation = self.find_reservation(Place(folder, path[-1]))
        ids = [lock.id for lock in self.find(folder) if lock.is_deep]
        return [make_token(id_) for id_ in (*ids, *([reservation.id] if reservation else ()))]

    def find_reservation(self, place: Place) -> Reservation | None:
        """Return the reservation of a name."""
        value = self.host.values.get(_key(place))
        return None if value is None else Reservation(**value)

    def reserve(self, place: Place, request: LockRequest) -> Reservation:
        """Reserve a name.

        Raises:
            DavError: 403 if the caller may not create anything there, and 423 if the name is reserved
                or the folder is locked with everything in it.
        """
        caller = self.host.caller
        assert caller is not None  # noqa: S101  the request is authenticated
        folder = place.folder.file
        may_write = caller.file_id is None if folder is None else folder.permission in _WRITERS
        if not may_write or (caller.scopes is not None and Scope.FILES_WRITE not in caller.scopes):
            raise DavError(HTTPStatus.FORBIDDEN)
        if any(lock.is_deep for lock in self.find(place.folder)):
            raise DavError(HTTPStatus.LOCKED, condition="no-conflicting-lock")
        self.host.limits.check_rate("reservations", RESERVATIONS, caller.user_id)
        expires_at = self.host.clock.now() + request.seconds * _SECOND
        reservation = Reservation(
            str(uuid4()),
            caller.user_id,
            request.is_shared,
            request.is_deep,
            request.owner,
            expires_at,
        )
        if not self._store(place, None, reservation):
            raise DavError(HTTPStatus.LOCKED, condition="no-conflicting-lock")
        return reservation

    def renew_reservation(self, place: Place, reservation: Reservation, seconds: int) -> Reservation:
        """Let a reservation of the caller last for a time from now.

        Raises:
            DavError: it has ended, or is another user's.
        """
        self._require_own(reservation)
        expires_at = self.host.clock.now() + seconds * _SECOND
        renewed = Reservation(**{**asdict(reservation), "expires_at": expires_at})
        if not self._store(place, reservation, renewed):
            raise DavError(HTTPStatus.PRECONDITION_FAILED, "The lock has ended.")
        return renewed

    def cancel(self, place: Place, reservation: Reservation) -> None:
        """End a reservation of the caller.

        Raises:
            DavError: it is another user's.
        """
        self._require_own(reservation)
        self._store(place, reservation, None)

    @contextmanager
    def claiming(self, path: Path, lock_ids: Collection[str]) -> Iterator[bool]:
        """Create a file or folder within the block, and make a reservation of its name a lock.

        Yields whether the name is reserved, for the caller.

        Raises:
            DavError: 423 if another request has reserved the name.
        """
        folder = Resources(self.host).find_folder(path[:-1]) if len(path) > 1 else None
        place = None if folder is None else Place(folder, path[-1])
        reservation = None if place is None else self.find_reservation(place)
        if place is None or reservation is None:
            yield False
            return
        if reservation.id not in lock_ids or reservation.user_id != self._user_id:
            raise DavError(HTTPStatus.LOCKED, condition="lock-token-submitted")
        yield True
        self._claim(path, place, reservation)

    def _claim(self, path: Path, place: Place, reservation: Reservation) -> None:
        resource = Resources(self.host).find(path)
        seconds = (reservation.expires_at - self.host.clock.now()) // _SECOND
        if resource is not None and resource.file is not None and seconds > 0:
            # The file exists and stays, also if another request has locked it in the meantime.
            try:
                self.host.files.lock(
                    resource.tenant_id,
                    resource.file.id,
                    seconds,
                    shared=reservation.is_shared,
                    deep=reservation.is_deep,
                    note=reservation.owner,
                    lock_id=reservation.id,
                )
            except ApiError as error:
                if error.status != HTTPStatus.LOCKED:
                    raise
        self._store(place, reservation, None)

    def release_moved(self, resource: Resource, lock_ids: Collection[str]) -> None:
        """End the locks of a moved file or folder that the request presents.

        A MOVE does not move locks (RFC 4918, section 7.7).
        """
        file = resource.file
        if file is None or not lock_ids:
            return
        for lock in self.host.files.locks(file.tenant_id, [file.id]).get(file.id, ()):
            if lock.file_id == file.id and lock.id in lock_ids and lock.user_id == self._user_id:
                self.host.files.unlock(file.tenant_id, file.id, lock.id)

    def _store(self, place: Place, present: Reservation | None, new: Reservation | None) -> bool:
        expected: Any = None if present is None else asdict(present)
        value: Any = None if new is None else asdict(new)
        end = None if new is None else new.expires_at
        return self.host.values.compare_and_set(_key(place), expected, value, expires_at=end)

    def _require_own(self, reservation: Reservation) -> None:
        if reservation.user_id != self._user_id:
            raise DavError(HTTPStatus.FORBIDDEN)

    @property
    def _user_id(self) -> str | None:
        caller = self.host.caller
        return None if caller is None else caller.user_id


def _key(place: Place) -> str:
    name = hashlib.sha256(place.name.encode()).hexdigest()
    return f"reservation:{place.tenant_id}:{place.parent_id or ''}:{name}"
