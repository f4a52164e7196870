"""The tests of races would notice: without its guard, each of them is lost.

On SQLite one more guard stands behind each, the lock of its one writer; hence PostgreSQL. Two race each
other, because a third might come late, and its reuse would end both.
"""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.races import (
    Site,
    log_in_by_one_code,
    racing,
    reset_by_one_code,
    send_by_one_captcha,
    unbind_both,
)
from tests.support.databases import PostgresqlDatabases
from tests.support.distributions import install

pytestmark = pytest.mark.extended

WAYS = 2
UNGUARDED = Path(__file__).with_name("unguarded.py")


@dataclass
class Unguarded:
    """A server whose guards can be taken away."""

    site: Site
    switches: Path

    def take_away(self, guard: str) -> None:
        """Remove one guard, and restore the others."""
        shutil.rmtree(self.switches, ignore_errors=True)
        self.switches.mkdir()
        (self.switches / guard).touch()


@pytest.fixture(scope="module")
def unguarded(
    tmp_path_factory: pytest.TempPathFactory, postgresql_databases: PostgresqlDatabases
) -> Iterator[Unguarded]:
    folder = tmp_path_factory.mktemp("unguarded")
    install(folder, "unguarded", UNGUARDED.read_text())
    with pytest.MonkeyPatch.context() as patch, postgresql_databases.create() as url:
        patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        with racing(folder, url, plugins=("unguarded",)) as site:
            for name in ("alice", "dave"):
                site.server.create_user(f"{name}@example.com")
            yield Unguarded(site, folder / "without")


@pytest.mark.parametrize(
    ("guard", "race", "success"),
    [
        ("code", log_in_by_one_code, 200),
        ("captcha", send_by_one_captcha, 201),
        ("code", reset_by_one_code, 200),
    ],
)
def test_what_may_happen_once_happens_more_often(
    unguarded: Unguarded, guard: str, race: Callable[[Site, int, int], Counter[int]], success: int
) -> None:
    unguarded.take_away("nothing")
    assert race(unguarded.site, 1, WAYS)[success] == 1
    unguarded.take_away(guard)
    assert race(unguarded.site, 2, WAYS)[success] > 1


def test_unbinding_both_leaves_none(unguarded: Unguarded) -> None:
    unguarded.take_away("nothing")
    assert unbind_both(unguarded.site, 1)[1] == 1
    unguarded.take_away("turns")
    assert unbind_both(unguarded.site, 2) == ([200, 200], 0)
