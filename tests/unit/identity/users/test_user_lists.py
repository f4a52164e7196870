"""Lists and searches of users: they find what reading all users finds, and read as few as possible."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import product
from random import Random
from statistics import quantiles
from threading import Thread
from time import perf_counter
from typing import Any, Final

import pytest
from alembic import command
from bench.people import Person, people, plant
from sqlalchemy import Connection, event, text
from tests.support.api import Api
from tests.support.campaign import campaign_size
from tests.support.databases import on_postgresql, on_sqlite
from tests.support.previous_release import drop_all
from tests.support.statements import plan_of
from tests.support.waiting import wait_until
from tests.support.work import counted_steps

from strongroom.assembly.container import Container
from strongroom.foundation.collation import sort_key
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging
from strongroom.foundation.database.text_index import TextIndex
from strongroom.foundation.database.upgrade import alembic_config, upgrade
from strongroom.identity.accounts.service import AccountService
from strongroom.identity.users import user_index, user_lists
from strongroom.identity.users.credential_changes import ChangedBy, CredentialChanges
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.models import User
from strongroom.identity.users.service import UserService
from strongroom.identity.users.suspension_ends import SuspensionEnds
from strongroom.identity.users.user_lists import USER_SORTS, UserLists, UserSelection
from strongroom.identity.users.user_reindexing import UserReindexing
from strongroom.plugin_api.login import Credential
from strongroom.testing.clock import ManualClock

SMALL: Final = 600
LARGE: Final = 8 * SMALL
PAGE: Final = 20
_OLD_USER: Final = """
INSERT INTO users (id, type, status, name, created_at, updated_at, revision)
VALUES ('u{number}', 'USER', 'active', '报告{number}', 1, 1, 1)
"""
_OLD_ADDRESS: Final = """
INSERT INTO credentials (id, user_id, kind, value, created_at)
VALUES ('c{number}', 'u{number}', 'email', 'mail{number}@example.com', 1)
"""
_MANY_TEXTS: Final = """
INSERT INTO user_search (user_id, folded, grams)
SELECT 'text-' || n, 'a' || repeat(md5(n::text), 3), '{}' FROM generate_series(1, 200000) AS n
ORDER BY md5(n::text)
"""
RARE: Final[tuple[dict[str, str], ...]] = (
    {"status": "suspended"},
    {"status": "suspended", "type": "USER"},
)
EVERY: Final[tuple[dict[str, str], ...]] = (
    *RARE,
    {},
    *({"status": "active", "type": kind} for kind in ("USER", "ADMIN")),
    *({"type": kind} for kind in ("USER", "ADMIN", "SERVICE")),
    {"status": "suspended", "type": "ADMIN"},
    {"status": "active"},
)
USERS: Final = campaign_size("USERS", SMALL)
"""Number of users of the campaign; 1,000,000 take a quarter of an hour to write."""

FILTERS: Final[tuple[dict[str, str], ...]] = ({}, {"status": "active"}, {"type": "USER"})


Filters = dict[str, str]


def listed(container: Container, filters: Filters, number: int = 1) -> Page[User]:
    return container.get(AccountService).page(Paging(number, PAGE), filters)


def selection(sort: str, filters: Filters, part: str | None = None) -> Filters:
    return {**filters, "sort": sort, **({} if part is None else {"q": part})}


def _key(sort: str) -> Callable[[Person], Any]:
    return {
        "createdAt": lambda person: (person.created_at, person.id),
        "name": lambda person: (sort_key(person.name), person.id),
        "lastLoginAt": lambda person: (person.last_login_at or 0, person.id),
    }[sort.removeprefix("-")]


def _expected(sort: str, filters: dict[str, str], part: str = "") -> list[str]:
    persons = [
        person
        for person in people(SMALL)
        if part in person.folded
        and all(getattr(person, name) == value for name, value in filters.items())
    ]
    persons.sort(key=_key(sort), reverse=sort.startswith("-"))
    return [person.id for person in persons]


@pytest.mark.both_databases
def test_each_order_and_filter_lists_all_users_in_pages(api: Api) -> None:
    plant(api.container, SMALL)
    for sort in USER_SORTS:
        for filters in (*FILTERS, {"status": "suspended"}):
            expected = _expected(sort, filters)
            pages = -(-len(expected) // PAGE)
            chosen = selection(sort, filters)
            for number in (1, pages // 2 + 1, pages):
                page = listed(api.container, chosen, number)
                part = expected[(number - 1) * PAGE : number * PAGE]
                assert ([user.id for user in page.items], page.total) == (part, len(expected))
            assert not listed(api.container, chosen, pages + 1).items


@pytest.mark.both_databases
@pytest.mark.parametrize("frequent", [0.0, 1.0])
def test_a_search_finds_what_reading_all_users_finds(
    api: Api, frequent: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_lists, "_FREQUENT", frequent)
    plant(api.container, SMALL)
    random = Random(2)
    texts = [person.folded for person in people(SMALL)]
    parts = [
        "a",
        "伟",
        "王",
        "@",
        "zz",
        "no such text",
        "张伟",
        *(_part(random, texts) for _ in range(40)),
    ]
    for part in parts:
        for sort, filters in (("name", {}), ("-lastLoginAt", {"status": "active"})):
            expected = _expected(sort, filters, part)
            page = listed(api.container, selection(sort, filters, part))
            assert [user.id for user in page.items] == expected[:PAGE], part
            assert page.total == len(expected), part


def _part(random: Random, texts: list[str]) -> str:
    line = random.choice(random.choice(texts).split("\n"))
    length = random.randint(1, 9)
    start = random.randrange(max(len(line) - length, 0) + 1)
    return line[start : start + length]


@pytest.mark.both_databases
def test_a_search_finds_the_newest_users_at_most(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_lists, "MAX_HITS", 50)
    monkeypatch.setattr(user_lists, "_FEW", 10)
    plant(api.container, SMALL)
    expected = [person.id for person in people(SMALL)][-50:]
    for filters in ({}, {"type": "USER"}):
        page = listed(api.container, selection("createdAt", filters, "@"), 2)
        assert page.total == 50
        assert [user.id for user in page.items] == expected[PAGE : 2 * PAGE]


@pytest.mark.both_databases
def test_missing_and_wrong_texts_are_corrected(api: Api) -> None:
    plant(api.container, SMALL)
    database, reindexing = api.container.database, api.container.get(UserReindexing)
    assert (reindexing.run(), reindexing.count()) == (0, (SMALL, 0))
    with database.write() as connection:
        connection.execute(text("DELETE FROM user_search WHERE folded LIKE '%7@%'"))
        connection.execute(text("UPDATE user_search SET folded = 'x' WHERE folded LIKE '%8@%'"))
    assert reindexing.count() == (SMALL, SMALL // 10)
    assert listed(api.container, selection("name", {}, "7@")).total == 0
    assert reindexing.run() == SMALL // 5
    assert reindexing.count() == (SMALL, 0)
    assert listed(api.container, selection("name", {}, "7@")).total == SMALL // 10


def test_a_large_count_is_remembered_for_a_minute(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_lists, "_LARGE", SMALL)
    plant(api.container, SMALL)
    usual = selection("name", {})
    assert listed(api.container, usual).total == SMALL
    api.person()
    assert listed(api.container, usual).total == SMALL
    assert listed(api.container, selection("name", {"status": "suspended"})).total == SMALL // 50
    api.clock.advance(60_000)
    assert listed(api.container, usual).total == SMALL + 1


@on_sqlite
def test_the_first_and_last_page_of_each_order_read_no_more_of_more_users(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_lists, "_LARGE", 0)
    monkeypatch.setattr(user_lists, "_FEW", PAGE)
    monkeypatch.setattr(user_lists, "MAX_HITS", PAGE)
    plant(api.container, LARGE)
    with counted_steps(api.container, monkeypatch) as steps:
        for sort, filters, part in product(USER_SORTS, FILTERS, (None, "@", "zz", "伟")):
            chosen = selection(sort, filters, part)
            pages = -(-listed(api.container, chosen).total // PAGE)
            for number in (1, pages):
                before = steps[0]
                listed(api.container, chosen, number)
                # Reading all users takes several instructions for each.
                assert 10 * (steps[0] - before) < LARGE, (sort, filters, part, number)


@on_sqlite
def test_a_search_for_a_status_reads_no_texts_of_users_of_another(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_lists, "_FEW", PAGE)
    monkeypatch.setattr(user_lists, "MAX_HITS", PAGE)
    plant(api.container, LARGE)
    with counted_steps(api.container, monkeypatch) as steps:
        # Suspended users have no number, so no user has the second text.
        for filters, part in product(RARE, ("@", "+86", "a", "wang")):
            before = steps[0]
            found = listed(api.container, selection("name", filters, part))
            assert bool(found.total) == (part != "+86")
            assert 2 * (steps[0] - before) < LARGE, (filters, part)


@pytest.mark.both_databases
def test_a_search_knows_the_present_status_and_type_of_users(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Otherwise the texts of the few users who meet the filters are read.
    monkeypatch.setattr(user_lists, "_FEW", -1)
    container, person = api.container, api.person()
    end = {"status": "suspended", "suspended_until": api.clock.now() + 1000}
    for changes in (end, {"type": "ADMIN"}, {"status": "active", "suspended_until": None}, end):
        _write(container, UserService, "change", person.id, **changes)
        assert _filters_that_find(container, person.id) == _present(container, person.id)
    api.clock.advance(1000)
    assert container.get(SuspensionEnds).reinstate_due() == 1
    assert _filters_that_find(container, person.id) == {"active", "ADMIN"}


def _filters_that_find(container: Container, user_id: str) -> set[str]:
    filters = [("status", "active"), ("status", "suspended"), ("type", "USER"), ("type", "ADMIN")]
    return {
        value
        for name, value in filters
        for page in [listed(container, selection("name", {name: value}, "a"))]
        if user_id in {user.id for user in page.items}
    }


def _present(container: Container, user_id: str) -> set[str]:
    with container.database.read() as connection:
        user = container.get(UserService).get(connection, user_id)
    return {user.status, user.type}


@pytest.mark.extended
@pytest.mark.both_databases
def test_each_filter_and_order_of_a_search_takes_milliseconds(api: Api) -> None:
    plant(api.container, USERS)
    parts = (None, "wang", "@", "a", "+86", "王", "王伟", "qq", "zz", "12", "no such", "alice.wang")
    exact: tuple[Filters, ...] = ({}, {"email": "a@example.org"}, {"username": "wanga-5"})
    chosen = [
        {**selection(sort, filters, part), **names}
        for sort, filters, part, names in product(USER_SORTS, EVERY, parts, exact)
    ]
    # The first round fills the caches, and makes PostgreSQL plan for all values of the parameters.
    for _ in range(2):
        seconds = [_seconds(partial(listed, api.container, each)) for each in chosen]
    assert quantiles(seconds, n=20)[-1] < 0.1, max(zip(seconds, map(str, chosen), strict=True))


def _seconds(call: Callable[[], object]) -> float:
    began = perf_counter()
    call()
    return perf_counter() - began


@on_sqlite
def test_users_who_change_together_are_indexed_without_reading_others(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(api.container, LARGE)
    changed = api.container.get(AccountService).page(Paging(1, 10 * PAGE), {}).items
    users = api.container.get(UserService)
    with counted_steps(api.container, monkeypatch) as steps:
        with api.container.database.write() as connection:
            for user in changed:
                users.change(connection, user.id, name="Alicia")
        # Reading the addresses of all users for each of these takes several instructions for each.
        assert 10 * steps[0] < len(changed) * LARGE


@contextmanager
def ordered_statements(api: Api) -> Iterator[list[tuple[str, Any]]]:
    """Collect the statements with an order, and their parameters."""
    statements: list[tuple[str, Any]] = []

    def note(_c: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if "ORDER BY" in statement:
            statements.append((statement, parameters))

    engine = api.container.database._readers.engine
    event.listen(engine, "before_cursor_execute", note)
    yield statements
    event.remove(engine, "before_cursor_execute", note)


@on_postgresql
def test_a_search_for_a_frequent_text_reads_until_it_has_enough(api: Api) -> None:
    plant(api.container, SMALL)
    with ordered_statements(api) as statements:
        listed(api.container, selection("name", {}, "a"))
    ((statement, parameters),) = [each for each in statements if "strpos" in each[0]]
    with api.container.database.engine.begin() as connection:
        # The planner prefers to read a table of this size as a whole, by several processes.
        connection.exec_driver_sql(_MANY_TEXTS)
        connection.exec_driver_sql("ANALYZE user_search")
        plan = plan_of(connection, statement, parameters)
    assert "Index Scan Backward using user_search_pkey" in "\n".join(plan), plan


@on_postgresql
def test_no_page_of_users_is_sorted(api: Api) -> None:
    plant(api.container, LARGE)
    with ordered_statements(api) as statements:
        for sort in USER_SORTS:
            for filters in FILTERS:
                for number in (1, LARGE // PAGE // 2):
                    listed(api.container, selection(sort, filters), number)
    assert len(statements) == 2 * len(USER_SORTS) * len(FILTERS)
    with api.container.database.engine.connect() as connection:
        for statement, parameters in statements:
            plan = plan_of(connection, statement, parameters)
            assert "Index Only Scan" in str(plan), statement
            assert "Sort" not in str(plan), statement


@on_postgresql
def test_changes_of_different_users_do_not_wait_for_each_other(api: Api) -> None:
    first, second = api.person(), api.person()
    with api.container.database.engine.begin() as connection:
        user_index._index(connection, {first.id})
        with ThreadPoolExecutor(1) as pool:
            body = {"name": "Another"}
            change = pool.submit(api.patch, f"/users/{second.id}", body, by=second)
            assert change.result(timeout=60).status_code == 200


@on_postgresql
def test_changes_of_one_user_at_once_are_both_indexed(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    container, person = api.container, api.person()
    rename = Thread(
        target=lambda: _write(container, UserService, "change", person.id, name="later name")
    )
    put_all = TextIndex.put_all

    def interrupted(index: TextIndex, connection: Connection, rows: Any) -> None:
        """Write the texts that were read before the other transaction began."""
        if not rename.ident:
            rename.start()
            wait_until(lambda: not rename.is_alive() or _waits(container))
        put_all(index, connection, rows)

    monkeypatch.setattr(TextIndex, "put_all", interrupted)
    _write(container, CredentialService, "bind", person.id, Credential("username", "later.user"))
    rename.join()
    for part in ("later name", "later.user"):
        assert listed(container, selection("name", {}, part)).total == 1


def _write(container: Container, service: type, method: str, *arguments: Any, **options: Any) -> None:
    with container.database.write() as connection:
        getattr(container.get(service), method)(connection, *arguments, **options)
        container.get(CredentialChanges).settle(connection, ChangedBy(None))


def _waits(container: Container) -> bool:
    waiting = text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
    with container.database.engine.connect() as connection:
        return bool(connection.execute(waiting).scalar())


@pytest.mark.both_databases
def test_users_of_the_version_before_are_indexed_by_the_migration(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, count = Database(database_url), 1300
    drop_all(database.engine)
    with database.engine.execution_options(strongroom_writing=True).begin() as connection:
        command.upgrade(alembic_config(connection), "0033")
        for number in range(count):
            connection.execute(text(_OLD_USER.format(number=f"{number:05}")))
            connection.execute(text(_OLD_ADDRESS.format(number=f"{number:05}")))
        connection.execute(text("UPDATE users SET deleted_at = 1 WHERE id = 'u00007'"))
        connection.execute(text("UPDATE users SET status = 'suspended' WHERE id = 'u00290'"))
    upgrade(database.engine)
    reindexing = UserReindexing(database)
    assert reindexing.count() == (count - 1, 0)
    assert reindexing.run() == 0
    lists = UserLists(ManualClock())
    for part, total in {"报告01299": 1, "报告0129": 10, "MAIL00003@": 1, "报告00007": 0}.items():
        with database.read() as connection:
            assert lists.page(connection, UserSelection(text=part), Paging(1, PAGE)).total == total
    monkeypatch.setattr(user_lists, "_FEW", -1)
    suspended = UserSelection({"status": "suspended"}, text="报告")
    with database.read() as connection:
        page = lists.page(connection, suspended, Paging(1, PAGE))
    assert [user.id for user in page.items] == ["u00290"]
    database.close()
