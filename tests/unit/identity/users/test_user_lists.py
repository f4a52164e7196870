"""Lists and searches of users: they find what reading all users finds, and read as few as possible."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any, Final

import pytest
from alembic import command
from bench.people import Person, people, plant
from sqlalchemy import Connection, event, text
from tests.support.api import Api
from tests.support.databases import on_postgresql, on_sqlite
from tests.support.waiting import wait_until
from tests.support.work import counted_steps

from strongroom.assembly.container import Container
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging
from strongroom.foundation.database.text_index import TextIndex
from strongroom.foundation.database.upgrade import alembic_config, upgrade
from strongroom.identity.accounts.service import AccountService
from strongroom.identity.users import user_lists
from strongroom.identity.users.credential_changes import ChangedBy, CredentialChanges
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.models import User
from strongroom.identity.users.service import UserService
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
FILTERS: Final[tuple[dict[str, str], ...]] = ({}, {"status": "active"}, {"type": "USER"})


Filters = dict[str, str]


def listed(container: Container, filters: Filters, number: int = 1) -> Page[User]:
    return container.get(AccountService).page(Paging(number, PAGE), filters)


def selection(sort: str, filters: Filters, part: str | None = None) -> Filters:
    return {**filters, "sort": sort, **({} if part is None else {"q": part})}


def _key(sort: str) -> Callable[[Person], Any]:
    return {
        "createdAt": lambda person: (person.created_at, person.id),
        "name": lambda person: (person.name, person.id),
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


@on_postgresql
def test_no_page_of_users_is_sorted(api: Api) -> None:
    plant(api.container, LARGE)
    statements: list[tuple[str, Any]] = []

    def note(_c: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if "ORDER BY" in statement:
            statements.append((statement, parameters))

    engine = api.container.database._readers.engine
    event.listen(engine, "before_cursor_execute", note)
    for sort in USER_SORTS:
        for filters in FILTERS:
            for number in (1, LARGE // PAGE // 2):
                listed(api.container, selection(sort, filters), number)
    event.remove(engine, "before_cursor_execute", note)
    assert len(statements) == 2 * len(USER_SORTS) * len(FILTERS)
    with api.container.database.engine.connect() as connection:
        for statement, parameters in statements:
            plan = connection.exec_driver_sql(f"EXPLAIN {statement}", parameters).scalars().all()
            assert "Index Only Scan" in str(plan), statement
            assert "Sort" not in str(plan), statement


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


def test_users_of_the_version_before_are_indexed_by_the_migration(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'old.sqlite3'}")
    count = 1300
    with database.engine.execution_options(strongroom_writing=True).begin() as connection:
        command.upgrade(alembic_config(connection), "0033")
        for number in range(count):
            connection.execute(text(_OLD_USER.format(number=f"{number:05}")))
            connection.execute(text(_OLD_ADDRESS.format(number=f"{number:05}")))
        connection.execute(text("UPDATE users SET deleted_at = 1 WHERE id = 'u00007'"))
    upgrade(database.engine)
    reindexing = UserReindexing(database)
    assert reindexing.count() == (count - 1, 0)
    assert reindexing.run() == 0
    lists = UserLists(ManualClock())
    for part, total in {"报告01299": 1, "报告0129": 10, "MAIL00003@": 1, "报告00007": 0}.items():
        with database.read() as connection:
            assert lists.page(connection, UserSelection(text=part), Paging(1, PAGE)).total == total
    database.close()
