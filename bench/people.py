"""Very many users, written straight into a database."""

from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random
from typing import Final, NamedTuple

from sqlalchemy import Connection, text

from bench.archive import Planter
from bench.forest import analyze
from strongroom.assembly.container import Container
from strongroom.foundation.collation import sort_key
from strongroom.foundation.database.grams import as_array
from strongroom.identity.users.user_index import USER_INDEX, indexed_text

_BATCH: Final = 20_000
_SURNAMES: Final = "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗"
_GIVEN: Final = "伟芳娜敏静丽强磊军洋勇艳杰娟涛明超秀霞平刚桂英华玉建国文志海云山春雨梅"
_FIRST: Final = (
    *("alice", "bob", "carol", "david", "erin", "frank", "grace", "henry", "irene", "jack"),
    *("karen", "leo", "maria", "nora", "oscar", "paula", "quentin", "rita", "steve", "tina"),
)
_LAST: Final = (
    *("adams", "baker", "clark", "davis", "evans", "foster", "green", "harris", "irwin", "jones"),
    *("king", "lewis", "moore", "nolan", "owens", "parker", "quinn", "reed", "smith", "turner"),
    *("wang", "zhang", "liu", "chen", "yang", "huang", "zhao", "zhou", "xu", "sun"),
)
_CHINESE: Final = 0.6
"""Share of the users with a Chinese name."""
_SPREAD: Final = 48_271_139
"""A factor without a common divisor with a power of ten, so that no two numbers are equal."""
_DOMAINS: Final = ("example.com", "example.org", "mail.example.net", "qq.example.cn")
_COLUMNS: Final = (
    *("id", "type", "status", "name", "created_at", "updated_at", "revision", "last_login_at"),
    *("external_id", "sort_key"),
)


class Person(NamedTuple):
    """A user, and the user's contacts by kind."""

    id: str
    type: str
    status: str
    name: str
    created_at: int
    last_login_at: int | None
    external_id: str
    contacts: dict[str, str]

    @property
    def folded(self) -> str:
        """The text of the index."""
        return indexed_text([self.name, *self.contacts.values()], self.status, self.type)


def people(count: int) -> Iterator[Person]:
    """Yield users; the same ones each time."""
    random = Random(1)  # noqa: S311
    for number in range(count):
        yield _person(random, number)


def _person(random: Random, number: int) -> Person:
    first, last = random.choice(_FIRST), random.choice(_LAST)
    chinese = random.choice(_SURNAMES) + "".join(random.choices(_GIVEN, k=random.randint(1, 2)))
    contacts = {"email": f"{first}.{last}{number}@{random.choice(_DOMAINS)}"}
    if number % 2:
        contacts["mobile"] = f"+861{random.randrange(30, 90)}{number * _SPREAD % 10**8:08}"
    if number % 5 == 0:
        contacts["username"] = f"{last}{first[0]}-{number}"
    return Person(
        f"00000000-0000-7000-8000-{number:012}",
        "ADMIN" if number % 10_000 == 1 else "USER",
        "suspended" if number % 50 == 0 else "active",
        chinese if random.random() < _CHINESE else f"{first} {last}".title(),
        1_700_000_000_000 + number * 1000,
        None if number % 4 == 0 else random.randrange(1_700_000_000_000, 1_790_000_000_000),
        f"hr-{number}",
        contacts,
    )


def plant(container: Container, count: int) -> None:
    """Write so many users, with their index."""
    with container.database.write() as connection:
        planter = Planter(connection)
        dropped = _without_indexes(connection)
        users, number = people(count), 1
        while batch := [*islice(users, _BATCH)]:
            _add(planter, batch, number)
            number += len(batch)
        for statement in dropped:
            connection.execute(text(statement))
        if not planter.is_sqlite:
            connection.execute(
                text("SELECT setval('user_search_number_seq', (SELECT max(number) FROM user_search))")
            )
    analyze(container)


def _add(planter: Planter, batch: Sequence[Person], number: int) -> None:
    """Add users, with their texts from ``number`` on."""
    planter.add(
        "users",
        _COLUMNS,
        [
            (*person[:5], *(person.created_at,) * 2, *person[5:7], sort_key(person.name))
            for person in batch
        ],
    )
    credentials = [
        (f"{person.id[:-14]}{place}{person.id[-13:]}", person.id, kind, value, person.created_at)
        for person in batch
        for place, (kind, value) in enumerate(person.contacts.items())
    ]
    planter.add("credentials", ("id", "user_id", "kind", "value", "created_at"), credentials)
    texts = [(place, person.id, person.folded) for place, person in enumerate(batch, number)]
    columns = ("number", "user_id", "folded")
    if planter.is_sqlite:
        planter.add("user_search", columns, texts)
        postings = [USER_INDEX.posting(place, "", folded) for place, _, folded in texts]
        rows = [(posting["number"], posting["grams"]) for posting in postings]
        planter.add("user_search_index", ("rowid", "grams"), rows)
        return
    grams = [(*row, as_array(USER_INDEX.grams.of_row("", row[2]))) for row in texts]
    planter.add("user_search", (*columns, "grams"), grams)


def _without_indexes(connection: Connection) -> list[str]:
    """Drop the indexes that are slow to fill row by row; return the statements that make them."""
    if connection.dialect.name == "sqlite":
        query = (
            "SELECT name, sql FROM sqlite_master WHERE tbl_name = 'users' AND sql LIKE 'CREATE INDEX%'"
        )
    else:
        query = (
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename IN ('users', 'user_search') "
            "AND indexdef LIKE 'CREATE INDEX%'"
        )
    indexes = connection.execute(text(query)).all()
    for name, _ in indexes:
        connection.execute(text(f"DROP INDEX {name}"))
    return [statement for _, statement in indexes]
