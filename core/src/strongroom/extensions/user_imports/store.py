"""The rows of imports, within the caller's transaction."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Final

from sqlalchemy import Connection, and_, bindparam, delete, exists, func, insert, or_, select, update

from strongroom.clock import DAY, Clock
from strongroom.extensions.user_imports.lines import Line
from strongroom.extensions.user_imports.models import (
    ACTIVE_STATES,
    USER_IMPORT,
    ImportState,
    LineError,
    OnTakenUser,
    UserImport,
    user_import_chunks,
    user_import_errors,
    user_import_keys,
    user_imports,
)
from strongroom.foundation.database.leases import RowLease
from strongroom.foundation.database.paging import Page, Paging, select_page
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import Detail
from strongroom.foundation.ids import new_id
from strongroom.foundation.secret_keys import SecretKeys

LEASE: Final = 60 * 1000
"""Milliseconds after which another process continues the import of one that was killed."""

_RETENTION: Final = 30 * DAY
_ABANDONED: Final = DAY
"""Age of an import whose lines did not arrive completely, because its server was killed."""

_SEAL: Final = "user-import"
CHUNK_LINES: Final = 200
_CHUNK_BYTES: Final = 48 * 1024
"""With one line more, the sealed text of any bytes stays below the limit of sealed texts."""

_LEASE: Final = user_imports.c.lease_owner, user_imports.c.lease_until
_ROW: Final = RowLease(
    user_imports.c.id,
    owner=user_imports.c.lease_owner,
    until=user_imports.c.lease_until,
    milliseconds=LEASE,
)
_IS_ACTIVE: Final = user_imports.c.state.in_(ACTIVE_STATES)
_BY_ID: Final = Statement(
    select(user_imports).where(user_imports.c.id == bindparam("import_id")), USER_IMPORT
)
_ADD: Final = Statement(insert(user_imports))
_REMOVE: Final = Statement(delete(user_imports).where(user_imports.c.id == bindparam("import_id")))
_ACCEPT: Final = Statement(
    update(user_imports)
    .where(user_imports.c.id == bindparam("import_id"))
    .values(state=ImportState.WAITING.value, lines=bindparam("count"))
)
_OTHER: Final = user_imports.alias("other")
_IS_ANY_RUNNING: Final = exists().where(
    _OTHER.c.lease_until > bindparam("now"), _OTHER.c.state.in_(ACTIVE_STATES)
)
_NEXT: Final = Statement(
    select(user_imports.c.id)
    .where(_IS_ACTIVE, ~_IS_ANY_RUNNING)
    .order_by(user_imports.c.created_at, user_imports.c.id)
    .limit(1)
)
_UNFINISHED: Final = Statement(
    select(user_imports).where(_IS_ACTIVE).order_by(user_imports.c.created_at, user_imports.c.id),
    USER_IMPORT,
)
_CLAIM: Final = Statement(_ROW.claim().where(_IS_ACTIVE).values(state=ImportState.RUNNING.value))
_RENEW: Final = Statement(_ROW.renew().where(_IS_ACTIVE))
_RELEASE: Final = Statement(_ROW.end())
_COUNTS: Final = ("read", "created", "updated", "skipped", "failed")
_COUNT: Final = Statement(
    _ROW.change().values({name: user_imports.c[name] + bindparam(f"add_{name}") for name in _COUNTS})
)
_FINISH: Final = Statement(
    _ROW.end().where(_IS_ACTIVE).values(state=ImportState.FINISHED.value, finished_at=bindparam("now"))
)
_CANCEL: Final = Statement(
    update(user_imports)
    .where(
        user_imports.c.id == bindparam("import_id"),
        or_(_IS_ACTIVE, user_imports.c.state == ImportState.RECEIVING.value),
    )
    .values(state=ImportState.CANCELLED.value, finished_at=bindparam("now"), lease_until=None)
)
_REVOKE: Final = Statement(
    _ROW.end().where(_IS_ACTIVE).values(state=ImportState.REVOKED.value, finished_at=bindparam("now"))
)
_PRUNE: Final = Statement(
    delete(user_imports).where(
        or_(
            user_imports.c.finished_at < bindparam("finished_before"),
            and_(
                user_imports.c.state == ImportState.RECEIVING.value,
                user_imports.c.created_at < bindparam("abandoned_before"),
            ),
        )
    )
)
_OF_IMPORT: Final = user_import_chunks.c.import_id == bindparam("import_id")
_ADD_CHUNK: Final = Statement(insert(user_import_chunks))
_NEXT_CHUNK: Final = Statement(
    select(user_import_chunks.c.first_line, user_import_chunks.c.sealed_lines)
    .where(_OF_IMPORT)
    .order_by(user_import_chunks.c.first_line)
    .limit(1)
)
_REMOVE_CHUNK: Final = Statement(
    delete(user_import_chunks).where(
        _OF_IMPORT, user_import_chunks.c.first_line == bindparam("first_line")
    )
)
_REMOVE_CHUNKS: Final = Statement(delete(user_import_chunks).where(_OF_IMPORT))
_OF_IMPORT_KEYS: Final = user_import_keys.c.import_id == bindparam("import_id")
_KEYS: Final = Statement(
    select(user_import_keys.c.hash, user_import_keys.c.line).where(
        _OF_IMPORT_KEYS, user_import_keys.c.hash.in_(bindparam("hashes", expanding=True))
    )
)
_ADD_KEYS: Final = Statement(insert(user_import_keys))
_REMOVE_KEYS: Final = Statement(delete(user_import_keys).where(_OF_IMPORT_KEYS))
_ADD_ERRORS: Final = Statement(insert(user_import_errors))
_ERRORS: Final = Statement(
    select(*(user_import_errors.c[name] for name in LineError.__dataclass_fields__))
    .where(
        user_import_errors.c.import_id == bindparam("import_id"),
        or_(
            user_import_errors.c.line > bindparam("after_line"),
            and_(
                user_import_errors.c.line == bindparam("after_line"),
                user_import_errors.c.position > bindparam("after_position"),
            ),
        ),
    )
    .order_by(user_import_errors.c.line, user_import_errors.c.position)
    .limit(bindparam("limit")),
    LineError,
)


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What the creator of an import has chosen.

    Args:
        events: whether each user makes an event, as one who registers does.
    """

    on_conflict: OnTakenUser = OnTakenUser.FAIL
    dry_run: bool = False
    events: bool = False


@dataclass(frozen=True, slots=True)
class Chunk:
    """Successive lines, which are imported in one transaction."""

    first_line: int
    lines: Sequence[Line] = field(repr=False)


def split_chunks(lines: Iterable[Line]) -> Iterator[Chunk]:
    """Yield all lines in chunks."""
    collected: list[Line] = []
    size = 0
    for line in lines:
        collected.append(line)
        size += len(line.content)
        if len(collected) >= CHUNK_LINES or size >= _CHUNK_BYTES:
            yield Chunk(collected[0].number, collected)
            collected, size = [], 0
    if collected:
        yield Chunk(collected[0].number, collected)


@dataclass(slots=True, eq=False, repr=False)
class ImportStore:
    """Imports with their lines, duplicates and errors."""

    _clock: Clock
    _keys: SecretKeys

    def add(
        self,
        connection: Connection,
        options: ImportOptions,
        created_by: str | None,
        key_id: str | None = None,
    ) -> UserImport:
        """Create an import, whose lines are being received."""
        row = UserImport(
            id=new_id(),
            state=ImportState.RECEIVING.value,
            created_by=created_by,
            key_id=key_id,
            on_conflict=options.on_conflict.value,
            dry_run=options.dry_run,
            events=options.events,
            created_at=self._clock.now(),
            finished_at=None,
            **dict.fromkeys(("lines", *_COUNTS), 0),
            lease_owner=None,
            lease_until=None,
        )
        _ADD.execute(connection, USER_IMPORT.values(row))
        return row

    def add_chunk(self, connection: Connection, import_id: str, chunk: Chunk) -> None:
        """Store lines."""
        # Any byte survives, and a lone one is refused when its line is parsed.
        text = b"\n".join(line.content for line in chunk.lines).decode("utf-8", "surrogateescape")
        row = {
            "import_id": import_id,
            "first_line": chunk.first_line,
            "sealed_lines": self._keys.seal(f"{_SEAL}:{import_id}", text),
        }
        _ADD_CHUNK.execute(connection, row)

    def accept(self, connection: Connection, import_id: str, count: int) -> None:
        """Let an import begin, all of whose lines were received."""
        _ACCEPT.execute(connection, {"import_id": import_id, "count": count})

    def remove(self, connection: Connection, import_id: str) -> None:
        """Delete an import with everything that belongs to it."""
        _REMOVE.execute(connection, {"import_id": import_id})

    def get(self, connection: Connection, import_id: str) -> UserImport | None:
        """Return an import, or ``None``."""
        return _BY_ID.first(connection, {"import_id": import_id})

    def page(self, connection: Connection, paging: Paging) -> Page[UserImport]:
        """Return a page of imports, newest first."""
        order = user_imports.c.created_at.desc(), user_imports.c.id.desc()
        query = select(user_imports).order_by(*order)
        count = select(func.count()).select_from(user_imports)
        return select_page(connection, query, count, paging, USER_IMPORT)

    def unfinished(self, connection: Connection) -> list[UserImport]:
        """Return the imports with lines that are not processed yet, oldest first."""
        return _UNFINISHED.all(connection)

    def next_id(self, connection: Connection) -> str | None:
        """Return the oldest import with lines to process, or ``None`` while one is running."""
        next_id: str | None = _NEXT.scalar(connection, {"now": self._clock.now()})
        return next_id

    def claim(self, connection: Connection, import_id: str) -> str | None:
        """Claim an import for one process; return the owner, or ``None`` if another one works on it."""
        owner = new_id()
        return owner if _CLAIM.execute(connection, self._lease(import_id, owner)) else None

    def renew(self, connection: Connection, import_id: str, owner: str) -> bool:
        """Extend a claim; return ``False`` if it is lost, or the import was cancelled."""
        return _RENEW.execute(connection, self._lease(import_id, owner)) == 1

    def release(self, connection: Connection, import_id: str, owner: str) -> None:
        """End a claim, so that another process continues at once."""
        _RELEASE.execute(connection, {"of_id": import_id, "owner": owner})

    def count(
        self, connection: Connection, import_id: str, owner: str, counts: Mapping[str, int]
    ) -> None:
        """Add to the counts of an import."""
        added = {f"add_{name}": counts.get(name, 0) for name in _COUNTS}
        _COUNT.execute(connection, {"of_id": import_id, "owner": owner, **added})

    def finish(self, connection: Connection, import_id: str, owner: str) -> bool:
        """End an import; return ``False`` if the claim is lost."""
        _REMOVE_KEYS.execute(connection, {"import_id": import_id})
        ended = {"of_id": import_id, "owner": owner, "now": self._clock.now()}
        return _FINISH.execute(connection, ended) == 1

    def cancel(self, connection: Connection, import_id: str) -> bool:
        """Cancel an import; return ``False`` if it has ended. Lines of finished chunks stay imported."""
        if not _CANCEL.execute(connection, {"import_id": import_id, "now": self._clock.now()}):
            return False
        self._remove_lines(connection, import_id)
        return True

    def revoke(self, connection: Connection, import_id: str, owner: str) -> None:
        """End an import whose caller has lost the right to it. Finished chunks stay imported."""
        ended = {"of_id": import_id, "owner": owner, "now": self._clock.now()}
        if _REVOKE.execute(connection, ended):
            self._remove_lines(connection, import_id)

    def _remove_lines(self, connection: Connection, import_id: str) -> None:
        _REMOVE_CHUNKS.execute(connection, {"import_id": import_id})
        _REMOVE_KEYS.execute(connection, {"import_id": import_id})

    def prune(self, connection: Connection) -> int:
        """Delete imports that ended a month ago, and those that were never received completely."""
        now = self._clock.now()
        before = {"finished_before": now - _RETENTION, "abandoned_before": now - _ABANDONED}
        return _PRUNE.execute(connection, before)

    def next_chunk(self, connection: Connection, import_id: str) -> Chunk | None:
        """Return the first lines that are not processed, or ``None``."""
        row = _NEXT_CHUNK.first(connection, {"import_id": import_id})
        if row is None:
            return None
        first_line, sealed = row
        text = self._keys.unseal(f"{_SEAL}:{import_id}", sealed)
        contents = text.encode("utf-8", "surrogateescape").split(b"\n")
        return Chunk(first_line, [Line(first_line + n, content) for n, content in enumerate(contents)])

    def remove_chunk(self, connection: Connection, import_id: str, chunk: Chunk) -> None:
        """Delete lines that are processed in the same transaction."""
        _REMOVE_CHUNK.execute(connection, {"import_id": import_id, "first_line": chunk.first_line})

    def hash(self, import_id: str, key: str) -> str:
        """Return the hash of a key of a user, for :meth:`find_lines`."""
        return self._keys.hash(_SEAL, f"{import_id}:{key}")[:32]

    def find_lines(
        self, connection: Connection, import_id: str, hashes: Sequence[str]
    ) -> dict[str, int]:
        """Return the lines that have had keys with these hashes."""
        rows = _KEYS.all(connection, {"import_id": import_id, "hashes": hashes}) if hashes else []
        return dict(rows)

    def add_keys(self, connection: Connection, import_id: str, lines: Mapping[str, int]) -> None:
        """Store the lines of keys by hash."""
        if lines:
            rows = [{"import_id": import_id, "hash": key, "line": line} for key, line in lines.items()]
            _ADD_KEYS.execute(connection, rows)

    def add_errors(
        self, connection: Connection, import_id: str, errors: Mapping[int, Sequence[Detail]]
    ) -> None:
        """Store why lines were refused."""
        rows = [
            {"import_id": import_id, **asdict(_to_line_error(line, position, fault))}
            for line, faults in errors.items()
            for position, fault in enumerate(faults)
        ]
        if rows:
            _ADD_ERRORS.execute(connection, rows)

    def errors(
        self, connection: Connection, import_id: str, after: tuple[int, int], limit: int
    ) -> list[LineError]:
        """Return errors after a line and position, in the order of lines."""
        bounds = {"after_line": after[0], "after_position": after[1], "limit": limit}
        return _ERRORS.all(connection, {"import_id": import_id, **bounds})

    def _lease(self, import_id: str, owner: str) -> dict[str, object]:
        return {"of_id": import_id, "owner": owner, **_ROW.term(self._clock.now())}


_LONGEST: Final = 255


def _to_line_error(line: int, position: int, fault: Detail) -> LineError:
    # Names of unknown members are input.
    return LineError(line, position, fault.code[:64], fault.field[:_LONGEST], fault.message[:_LONGEST])
