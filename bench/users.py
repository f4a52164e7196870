"""Lists and searches of users, as whole requests in this process."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from statistics import quantiles
from typing import Final
from urllib.parse import urlencode

from flask import Flask

from bench.databases import CONFIG, Databases, on_both_databases
from bench.harness import Plan, Row
from bench.people import people, plant
from bench.work_time import Stopwatch, Taken
from strongroom.assembly.app import create_app, get_container
from strongroom.foundation.caller import Origin
from strongroom.foundation.config import load
from strongroom.identity.accounts.registration import Registration, RegistrationService
from strongroom.identity.users.models import UserType
from strongroom.identity.users.user_lists import USER_SORTS

PER_CASE: Final = 40
"""Number of texts of each kind at most."""

_PAGE: Final = 50
_SAMPLE: Final = 5000
_PASSWORD: Final = "Correct1Horse"  # noqa: S105  of a database that is deleted

Query = Mapping[str, object]


def measure(plan: Plan) -> list[Row]:
    """Measure the milliseconds of searches and of pages in each order."""
    return on_both_databases(_measure, plan)


def _measure(kind: str, databases: Databases, folder: Path, plan: Plan) -> list[Row]:
    with databases.create() as url, serving(url, folder, plan.files) as (app, token):
        return rows(app, token, kind, plan)


@contextmanager
def serving(url: str, folder: Path, count: int) -> Iterator[tuple[Flask, str]]:
    """Yield an application with so many users, and the access token of another, an administrator."""
    config = folder / "strongroom.toml"
    config.write_text(CONFIG.format(folder=folder, url=url))
    app = create_app(load(config, {}))
    container = get_container(app)
    # Before any other user is indexed, because the planted texts are numbered from one.
    plant(container, count)
    admin = Registration(name="", password=_PASSWORD, username="bench.admin", kind=UserType.ADMIN)
    container.get(RegistrationService).create(admin, Origin())
    login = {"username": "bench.admin", "password": _PASSWORD}
    try:
        yield app, app.test_client().post("/authorizations", json=login).headers["X-Access-Token"]
    finally:
        container.close()


def rows(app: Flask, token: str, kind: str, plan: Plan) -> list[Row]:
    """Return the milliseconds below which half and 95 of 100 requests stay, in each round."""
    stopwatch = Stopwatch(get_container(app))
    call = partial(_get, app, token)
    # The first round fills the caches of the database, as everyday use does.
    cases = {name: [partial(call, query) for query in some] for name, some in _cases(plan).items()}
    for calls in cases.values():
        [each() for each in calls]
    among = f"{plan.files:,} users, {kind}"
    return [
        row
        for name, calls in cases.items()
        for row in _rows(f"{name}, {among}", [_round(stopwatch, calls) for _ in range(plan.rounds)])
    ]


def _round(stopwatch: Stopwatch, calls: Sequence[Callable[[], object]]) -> Sequence[Taken]:
    return [stopwatch.measure(call) for call in calls]


def _rows(name: str, rounds: Sequence[Sequence[Taken]]) -> Iterator[Row]:
    for share, of in ((50, "half"), (95, "95 %")):
        figures = [[_share(times, share) for times in zip(*taken, strict=True)] for taken in rounds]
        yield Row(f"{of}: {name}", "ms", [wall for wall, _ in figures], is_cost=True)
        processor = [processor for _, processor in figures]
        yield Row(f"{of}: {name}: processor time", "ms", processor, is_cost=True)


def _share(times: Sequence[float], percent: int) -> float:
    return quantiles(times, n=100)[percent - 1]


def _get(app: Flask, token: str, query: Query) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    response = app.test_client().get(f"/users?{urlencode(query)}", headers=headers)
    if response.status_code != 200:  # noqa: PLR2004  OK
        raise RuntimeError(response.text)
    response.close()


def _cases(plan: Plan) -> dict[str, list[Query]]:
    """Return the queries of each kind; the same ones each time."""
    random = Random(3)  # noqa: S311
    some = random.sample([*people(min(plan.files, _SAMPLE))], min(plan.files, _SAMPLE) // 2)
    chinese = [person.name for person in some if not person.name.isascii()]
    latin = [person.name for person in some if person.name.isascii()]
    emails = [person.contacts["email"] for person in some]
    mobiles = [person.contacts["mobile"] for person in some if "mobile" in person.contacts]
    texts: dict[str, list[str]] = {
        "a frequent text": ["example", "wang", "@", ".com", "adams", "+86", "alice", "qq", "net", "王"],
        "two Chinese characters": [name[:2] for name in chinese],
        "a name": latin,
        "part of an e-mail address": [_part(random, text.partition("@")[0], 6) for text in emails],
        "an e-mail address": emails,
        "part of a number": [_part(random, text, 5) for text in mobiles],
        "one character": [*"abcdefghijklmnopqrstuvwxyz0123456789@.-伟李云雨高"],
        "no match": [_shuffled(random, text) for text in emails],
    }
    count = min(PER_CASE, plan.files // 500)
    searches: dict[str, list[Query]] = {
        f"search for {name}": [{"q": text, "pageSize": _PAGE} for text in sample[:count]]
        for name, sample in texts.items()
    }
    every: list[Query] = [query for some in searches.values() for query in some]
    active: list[Query] = [{**query, "status": "active", "sort": "name"} for query in every]
    return {
        **searches,
        "all searches": every,
        "page 15 of all searches": [{**query, "pageNumber": 15} for query in every],
        "all searches for active users, by name": active,
        **_pages(plan),
    }


def _pages(plan: Plan) -> dict[str, list[Query]]:
    last = max(plan.files // _PAGE, 1)
    filters: Sequence[Query] = ({}, {"status": "active"}, {"type": "USER"}, {"status": "suspended"})
    lists = [{**some, "sort": sort, "pageSize": _PAGE} for some in filters for sort in USER_SORTS]
    # Filtered lists end before the last page of all users.
    unfiltered = lists[: len(USER_SORTS)]
    places = {"first": (1, lists), "middle": (last // 2, unfiltered), "last": (last, unfiltered)}
    return {
        f"the {name} page in each order": [{**each, "pageNumber": number} for each in some]
        for name, (number, some) in places.items()
    }


def _part(random: Random, text: str, length: int) -> str:
    start = random.randrange(max(len(text) - length, 0) + 1)
    return text[start : start + length]


def _shuffled(random: Random, text: str) -> str:
    return "".join(random.sample(text[:12], 12))
