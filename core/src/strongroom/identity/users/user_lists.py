"""Lists of users: filtered, sorted and searched by an index each.

A search finds the most recently indexed users first, at most :data:`MAX_HITS` of them, and then sorts
them. So its cost is bounded, for a text that half of the users have as well. The index also knows the
status and the type, because a text that many users have may be one of few users of a status.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Select,
    bindparam,
    func,
    literal_column,
    select,
    true,
)

from strongroom.clock import Clock
from strongroom.foundation.database.paging import Page, Paging, make_page, page_after
from strongroom.foundation.database.statements import Statement, dynamic
from strongroom.foundation.database.text_index import Source, TextMatch
from strongroom.identity.users.models import USER, User, users
from strongroom.identity.users.user_index import USER_INDEX, make_mark, user_search

MAX_HITS: Final = 1000
"""Number of users that a search finds at most."""

_FEW: Final = 5000
"""If at most this many users meet the other criteria, a search reads the texts of these."""

_FREQUENT: Final = 0.007
"""If more of the newest texts match, PostgreSQL reads texts in order until there are enough hits.

Both ways then cost the same among 1,000,000 users; measured.
"""

_NO_LIMIT: Final = str(2**31)
"""More rows than an index has."""

_LARGE: Final = 10_000
"""Number of users from which a count may be :data:`_COUNT_AGE` old."""

_COUNT_AGE: Final = 60_000
"""Milliseconds."""

_LIVE: Final = users.c.deleted_at.is_(None)

Conditions = Sequence[ColumnElement[bool]]


class UserSort(StrEnum):
    """The property that users are sorted by; users with the same value are sorted by id."""

    CREATED_AT = "createdAt"
    NAME = "name"
    LAST_LOGIN_AT = "lastLoginAt"


USER_SORTS: Final = tuple(f"{sign}{key}" for key in UserSort for sign in ("", "-"))
"""All values of the parameter ``sort``."""

_COLUMNS: Final = {
    UserSort.CREATED_AT: users.c.created_at,
    UserSort.NAME: users.c.sort_key,
    UserSort.LAST_LOGIN_AT: users.c.last_login_at,
}


class UserOrder(NamedTuple):
    """A sort order. Users who have never logged in sort as if they had before all others."""

    key: UserSort = UserSort.CREATED_AT
    descending: bool = False

    @classmethod
    def parse(cls, sort: str) -> "UserOrder":
        """Return the order of a parameter such as ``-createdAt``."""
        return cls(UserSort(sort.removeprefix("-")), sort.startswith("-"))

    def columns(self, *, is_reversed: bool = False) -> list[ColumnElement[Any]]:
        """Return the columns of ORDER BY, which an index has."""
        column: ColumnElement[Any] = _COLUMNS[self.key]
        has_nulls = self.key is UserSort.LAST_LOGIN_AT
        if self.descending != is_reversed:
            return [column.desc().nulls_last() if has_nulls else column.desc(), users.c.id.desc()]
        return [column.asc().nulls_first() if has_nulls else column.asc(), users.c.id.asc()]

    def make_page(self, hits: "list[_Hit]", paging: Paging) -> "Page[_Hit]":
        """Sort the hits of a search, and return a page of them."""
        return make_page(hits, paging, _SORT_VALUES[self.key], descending=self.descending)


@dataclass(frozen=True, slots=True)
class UserSelection:
    """The users of a list, and their order.

    Args:
        values: what columns of :data:`users` are equal to.
        user_ids: the users that are listed at most; ``None``: any.
        text: a part of the name, the e-mail address, the mobile number or the username.
        order: the sort order.
    """

    values: Mapping[str, str] = field(default_factory=dict)
    user_ids: Collection[str] | None = None
    text: str | None = None
    order: UserOrder = field(default_factory=UserOrder)

    @property
    def conditions(self) -> Conditions:
        """The conditions other than the text."""
        equal = [users.c[name] == value for name, value in self.values.items()]
        return equal if self.user_ids is None else [*equal, users.c.id.in_(self.user_ids)]

    @property
    def conditions_of_hits(self) -> Conditions:
        """The conditions on the users that an index has found, none of which another index finds.

        A database could otherwise begin with the users who meet them, of which there may be many:
        PostgreSQL does not know the values when it plans a statement for all executions.
        """
        equal = [users.c[name].concat("") == value for name, value in self.values.items()]
        if self.user_ids is not None:
            equal.append(users.c.id.concat("").in_(self.user_ids))
        return equal


class _Hit(NamedTuple):
    number: int
    id: str
    sort_key: str
    created_at: int
    last_login_at: int | None


_SORT_VALUES: Final[dict[UserSort, Any]] = {
    UserSort.CREATED_AT: lambda hit: (hit.created_at, hit.id),
    UserSort.NAME: lambda hit: (hit.sort_key, hit.id),
    UserSort.LAST_LOGIN_AT: lambda hit: (hit.last_login_at or 0, hit.id),
}
_BY_IDS: Final = Statement(
    select(users).where(users.c.id.in_(bindparam("user_ids", expanding=True))), USER
)


class UserLists:
    """Reads pages of users within the caller's transaction."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._counts: dict[frozenset[tuple[str, str]], tuple[int, int]] = {}

    def page(self, connection: Connection, selection: UserSelection, paging: Paging) -> Page[User]:
        """Return a page of the selected users."""
        if selection.text is None:
            total = self._count(connection, selection)
            ids = _ids(connection, selection, paging, total)
            return ids.with_items(_users(connection, ids.items))
        hits = _search(connection, selection, selection.text)
        page = selection.order.make_page(hits, paging)
        return page.with_items(_users(connection, [hit.id for hit in page.items]))

    def _count(self, connection: Connection, selection: UserSelection) -> int:
        """Return the number of selected users, without the text.

        Counting reads an entry of the index per user, so large counts are remembered.
        """
        key, now = frozenset(selection.values.items()), self._clock.now()
        count, expires_at = self._counts.get(key, (0, 0))
        if now < expires_at and selection.user_ids is None:
            return count
        query = select(func.count()).select_from(users).where(_LIVE, *selection.conditions)
        count = int(dynamic(query).scalar(connection))
        if count >= _LARGE:
            self._counts[key] = (count, now + _COUNT_AGE)
        return count


def _users(connection: Connection, user_ids: Sequence[str]) -> list[User]:
    """Return users in the order of their ids in the list."""
    rows = _BY_IDS.all(connection, {"user_ids": user_ids}) if user_ids else []
    by_id = {user.id: user for user in rows}
    return [by_id[user_id] for user_id in user_ids if user_id in by_id]


def _ids(connection: Connection, selection: UserSelection, paging: Paging, total: int) -> Page[str]:
    """Return the ids of a page: only an index is read, from the nearer end."""
    chosen = select(users.c.id).where(_LIVE, *selection.conditions)
    if paging.after is not None:
        ordered = chosen.order_by(*selection.order.columns())
        return page_after(connection, ordered, total, paging, lambda row: str(row[0]))
    size = min(paging.size, total - paging.offset)
    if size <= 0:
        return Page([], total, paging)
    after = total - paging.offset - size
    is_reversed = after < paging.offset
    order = selection.order.columns(is_reversed=is_reversed)
    query = chosen.order_by(*order)
    skipped = after if is_reversed else paging.offset
    user_ids = dynamic(query.limit(size).offset(skipped)).scalars(connection)
    return Page(user_ids[::-1] if is_reversed else user_ids, total, paging)


def _search(connection: Connection, selection: UserSelection, text: str) -> list[_Hit]:
    """Return the most recently indexed users who have a text and meet the conditions."""
    mark = make_mark(selection.values.get("status", ""), selection.values.get("type", ""))
    match, dialect = USER_INDEX.match(text, mark=mark), connection.dialect.name
    # Each alone, because an index has one of them.
    few = next((item for item in selection.conditions if _are_few(connection, item)), None)
    if few is not None:
        sources = [_texts_query(few, dialect)]
    else:
        sources = [find(dialect) for find in _sources(connection, match)]
    queries = [_hits(source, selection.conditions_of_hits, dialect) for source in sources]
    hits: list[_Hit] = []
    for query in queries:
        limited = dynamic(query.limit(MAX_HITS - len(hits)), _Hit._make)
        hits += limited.all(connection, match.parameters(USER_INDEX))
        if len(hits) == MAX_HITS:
            break
    return hits


def _hits(matching: FromClause, conditions: Conditions, dialect: str) -> Select[Any]:
    """Return the query for the users of matching texts, the most recently indexed first."""
    columns = [users.c[name] for name in _Hit._fields[1:]]
    if dialect == "sqlite":
        query = select(matching.c.number, *columns).join(matching, matching.c.user_id == users.c.id)
        return query.where(_LIVE, *conditions).order_by(matching.c.number.desc())
    # No limit at all makes the planner read all texts and sort them, by several processes if it may:
    # without one, it plans a subquery for its last row.
    newest = select(matching).order_by(matching.c.number.desc()).limit(literal_column(_NO_LIMIT))
    newest_first = newest.subquery("newest_first")
    user = select(*columns).where(users.c.id == newest_first.c.user_id, _LIVE, *conditions)
    # A limit for each user keeps the planner from reading all users to join them.
    each = user.limit(literal_column("1")).lateral("each")
    query = select(newest_first.c.number, *each.c).join(each, true())
    return query.order_by(newest_first.c.number.desc())


def _sources(connection: Connection, match: TextMatch) -> list[Source]:
    """Return the sources of all users who have a text; the first source is more recent."""
    if connection.dialect.name == "sqlite":
        return [USER_INDEX.unindexed, USER_INDEX.by_grams]
    is_frequent = USER_INDEX.share(connection, match) > _FREQUENT
    return [USER_INDEX.by_reading if is_frequent else USER_INDEX.by_grams]


def _are_few(connection: Connection, condition: ColumnElement[bool]) -> bool:
    some = select(users.c.id).where(_LIVE, condition).limit(literal_column(str(_FEW + 1)))
    count: int = dynamic(select(func.count()).select_from(some.subquery())).scalar(connection)
    return count <= _FEW


def _texts_query(condition: ColumnElement[bool], dialect: str) -> FromClause:
    """Return the texts (number, user_id) of the users who meet a condition and have the text."""
    some = select(users.c.id).where(_LIVE, condition).cte("some").prefix_with("MATERIALIZED")
    rows = select(user_search.c.number, user_search.c.user_id)
    rows = rows.join(some, some.c.id == user_search.c.user_id)
    return rows.where(USER_INDEX.contains_part(dialect)).subquery("found")
