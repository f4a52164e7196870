"""The rows of versions: adds, finds, thins and removes them within the caller's transaction."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import groupby
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BigInteger,
    Connection,
    bindparam,
    cast,
    delete,
    func,
    insert,
    select,
    update,
)

from strongroom.clock import DAY, Clock
from strongroom.content.nodes.models import Node, node_versions
from strongroom.foundation.database.paging import Page, Paging, select_page
from strongroom.foundation.database.rows import RowMapper
from strongroom.foundation.database.statements import Statement

_DAYS_OF_DAYS: Final = 30
"""Days during which one version of each day is kept; before, one of each week."""

_BATCH: Final = 500


class Version(NamedTuple):
    """A row of :data:`node_versions`."""

    node_id: str
    number: int
    tenant_id: str
    blob_key: str
    size: int
    content_type: str
    checksum: str
    scan: str | None
    modified_at: int
    archived_at: int
    archived_by: str
    label: str | None
    is_kept: bool


VERSION: Final = RowMapper(Version, node_versions)

_OF_NODE: Final = node_versions.c.node_id == bindparam("of_node")
_OF_NODES: Final = node_versions.c.node_id.in_(bindparam("node_ids", expanding=True))
_IS_ONE: Final = _OF_NODE & (node_versions.c.number == bindparam("of_number"))
_ADD: Final = Statement(insert(node_versions))
_FIND: Final = Statement(select(node_versions).where(_IS_ONE), VERSION)
_WITH_CONTENT: Final = Statement(
    select(node_versions.c.number).where(
        _OF_NODE,
        node_versions.c.blob_key == bindparam("of_key"),
        node_versions.c.scan.in_(bindparam("states", expanding=True)),
    )
)
_CONTENTS: Final = Statement(select(node_versions).where(_OF_NODES), VERSION)
# The newest first; versions beyond the limit have the lowest numbers.
_EXCESS: Final = Statement(
    select(node_versions)
    .where(_OF_NODE, node_versions.c.is_kept.is_(False))
    .order_by(node_versions.c.number.desc())
    .limit(bindparam("at_most"))
    .offset(bindparam("keep")),
    VERSION,
)
_MARK: Final = Statement(
    update(node_versions)
    .where(_IS_ONE)
    .values(label=bindparam("new_label"), is_kept=bindparam("new_kept"))
)
_REMOVE: Final = Statement(delete(node_versions).where(_IS_ONE))
_SET_SCAN: Final = Statement(
    update(node_versions)
    .where(
        # Copies of a file have the same blob.
        node_versions.c.blob_key == bindparam("of_key"),
        node_versions.c.scan.is_distinct_from(bindparam("of_scan")),
    )
    .values(scan=bindparam("of_scan"))
)
_NODES_AFTER: Final = Statement(
    select(node_versions.c.node_id)
    .where(node_versions.c.node_id > bindparam("after"), node_versions.c.is_kept.is_(False))
    .distinct()
    .order_by(node_versions.c.node_id)
    .limit(bindparam("at_most"))
)
_SIZE: Final = Statement(
    select(cast(func.coalesce(func.sum(node_versions.c.size), 0), BigInteger)).where(
        node_versions.c.tenant_id == bindparam("tenant_id")
    )
)


def read_contents(connection: Connection, node_ids: Sequence[str]) -> list[Version]:
    """Return all versions of nodes, to release their blobs when the nodes are removed."""
    return [
        version
        for start in range(0, len(node_ids), _BATCH)
        for version in _CONTENTS.all(connection, {"node_ids": node_ids[start : start + _BATCH]})
    ]


def version_bytes(connection: Connection, tenant_id: str) -> int:
    """Return the total size of a tenant's versions in bytes."""
    return int(_SIZE.scalar(connection, {"tenant_id": tenant_id}))


@dataclass(slots=True, eq=False, repr=False)
class VersionRepository:
    """The versions of files.

    Args:
        thin: whether versions older than a day are thinned out.
    """

    _clock: Clock
    _: KW_ONLY
    thin: bool

    def add(self, connection: Connection, user_id: str, replaced: Node, keep: int) -> list[Version]:
        """Keep the content of a file that is being replaced; return versions beyond the limit.

        ``keep`` is the number of versions of a file that are kept, without those that users marked.
        """
        version = Version(
            replaced.id,
            (replaced.versions or 0) + 1,
            replaced.tenant_id,
            replaced.blob_key or "",
            replaced.size,
            replaced.content_type or "",
            replaced.checksum or "",
            replaced.scan,
            replaced.updated_at,
            self._clock.now(),
            user_id,
            None,
            False,
        )
        _ADD.execute(connection, VERSION.values(version))
        return self.excess(connection, replaced, keep)

    def excess(self, connection: Connection, file: Node, keep: int) -> list[Version]:
        """Return the versions of a file beyond a limit; a negative one is 0."""
        parameters = {"of_node": file.id, "keep": max(keep, 0), "at_most": _BATCH}
        return _EXCESS.all(connection, parameters)

    def find(self, connection: Connection, node_id: str, number: int) -> Version | None:
        """Return a version of a file, or ``None``."""
        return _FIND.first(connection, {"of_node": node_id, "of_number": number})

    def has_content(
        self, connection: Connection, node_id: str, blob_key: str, states: Collection[str]
    ) -> bool:
        """Return whether a file has a version with a blob in one of some scan states."""
        parameters = {"of_node": node_id, "of_key": blob_key, "states": list(states)}
        return _WITH_CONTENT.first(connection, parameters) is not None

    def page(self, connection: Connection, node_id: str, paging: Paging) -> Page[Version]:
        """Return a page of the versions of a file, newest first."""
        ours = node_versions.c.node_id == node_id
        count = select(func.count()).select_from(node_versions).where(ours)
        query = select(node_versions).where(ours).order_by(node_versions.c.number.desc())
        return select_page(connection, query, count, paging, VERSION)

    def mark(self, connection: Connection, version: Version, label: str | None, kept: bool) -> Version:
        """Set the label of a version, and whether it is kept whatever its age."""
        marked = version._replace(label=label, is_kept=kept)
        values = {"new_label": label, "new_kept": kept}
        _MARK.execute(connection, {**_key(version), **values})
        return marked

    def remove(self, connection: Connection, version: Version) -> bool:
        """Remove the row of a version, and return whether it was there."""
        return _REMOVE.execute(connection, _key(version)) == 1

    def set_scan(self, connection: Connection, blob_key: str, scan: str | None) -> bool:
        """Set the scan state of the versions that have a blob; return whether any changed."""
        values = {"of_key": blob_key, "of_scan": scan}
        return _SET_SCAN.execute(connection, values) > 0

    def some_due(
        self, connection: Connection, after: str, get_days: Callable[[str], int]
    ) -> tuple[str, list[Version]]:
        """Return the due versions of the next files after an id, and the last id; empty: at the end.

        Args:
            connection: the caller's transaction.
            get_days: returns the days after which the versions of a tenant are removed.
        """
        parameters = {"after": after, "at_most": _BATCH}
        # All versions of a file are read together, because which one is kept for a day or week depends
        # on the others.
        node_ids = _NODES_AFTER.scalars(connection, parameters)
        versions = read_contents(connection, node_ids)
        versions.sort(key=lambda version: (version.node_id, -version.number))
        of_files = (list(group) for _, group in groupby(versions, lambda each: each.node_id))
        due = (self._due(group, get_days(group[0].tenant_id) * DAY) for group in of_files)
        return (node_ids[-1] if node_ids else ""), [version for group in due for version in group]

    def _due(self, newest_first: Sequence[Version], kept_for: int) -> Iterator[Version]:
        """Yield the versions of one file that are too old, or have a later one in their period."""
        # The newest of each period is kept; marked versions count for theirs, too.
        periods = set()
        for version in newest_first:
            age = self._clock.now() - version.archived_at
            period = _period(version.archived_at, age) if self.thin else version.number
            is_first = period is None or period not in periods
            periods.add(period)
            if not version.is_kept and (age >= kept_for or not is_first):
                yield version


def _period(archived_at: int, age: int) -> tuple[str, int] | None:
    """Return the day or week that keeps one version; ``None`` for the last day, which keeps all."""
    if age < DAY:
        return None
    day = archived_at // DAY
    return ("day", day) if age < _DAYS_OF_DAYS * DAY else ("week", day // 7)


def _key(version: Version) -> dict[str, Any]:
    return {"of_node": version.node_id, "of_number": version.number}
