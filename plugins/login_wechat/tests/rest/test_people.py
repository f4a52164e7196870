"""In any order of actions: never two users for one person, nor one id on two accounts.

A model says the result of each action; after each, the table of credentials matches the model.
``STRONGROOM_TEST_WECHAT_EXAMPLES`` is how many sequences are tried.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import select
from tests.support.api import Answer, Api, Person
from tests.support.campaign import campaign_size
from tests.support.config import write_api_config
from tests.support.databases import SqliteDatabases
from tests.support.wechat import ACCOUNT, Logins, wechat

from strongroom.identity.users.models import credentials
from strongroom_simulators.wechat import Person as WeChatPerson

EXAMPLES = campaign_size("WECHAT_EXAMPLES", 15)
STEPS = 25

PEOPLE = st.sampled_from(["lin", "wei", "ada"])
APPS = st.sampled_from(["site", "shop", "mini"])
Id = tuple[str, str]


class People(RuleBasedStateMachine):
    """Three people, three apps, two users who were there before them, one with a person's number."""

    users = Bundle("users")
    api: Api
    logins: Logins
    numbers = count(13_800_000_000)

    def __init__(self) -> None:
        super().__init__()
        self.wechat = self.logins.wechat
        self.known: dict[str, WeChatPerson] = {}
        for name in ("lin", "wei", "ada"):
            number = next(self.numbers)
            person = WeChatPerson(f"{name}-{number}", nickname="同名", mobile=str(number))
            self.wechat.platform.add_person(person)
            self.known[name] = person
        for app in self.wechat.apps.values():
            app.account = None
        self.holders: dict[Id, str] = {}
        self.contacts: dict[str, str] = {}
        self.seen_without_unionid: set[str] = set()

    @initialize(target=users)
    def stranger(self) -> Person:
        person = self.api.person()
        self.contacts[person.id] = person.email
        return person

    @initialize(target=users)
    def holder_of_lins_number(self) -> Person:
        number = f"+86{self.known['lin'].mobile}"
        person = self.api.person(mobile=number)
        self.contacts[person.id] = person.email
        self.holders["mobile", number] = person.id
        return person

    @rule(app=APPS)
    def join_the_account(self, app: str) -> None:
        self.wechat.join_account(app)

    @rule(target=users, person=PEOPLE, app=APPS)
    def log_in(self, person: str, app: str) -> Any:
        answer = self.logins.log_in(self.known[person].id, app)
        return self._logged_in(answer, self._ids(person, app))

    @rule(target=users, person=PEOPLE)
    def log_in_with_the_number(self, person: str) -> Any:
        answer = self.logins.open_mini_program(self.known[person].id, phone=True)
        return self._logged_in(answer, [*self._ids(person, "mini"), self._number(person)])

    @rule(user=users, person=PEOPLE, app=APPS)
    def bind(self, user: Person, person: str, app: str) -> None:
        answer = self.logins.bind(user, self.known[person].id, app)
        ids = self._ids(person, app)
        if {self.holders[item] for item in ids if item in self.holders} - {user.id}:
            assert answer.status_code == 409
            return
        assert answer.status_code == 201, answer.text
        self.holders |= dict.fromkeys(ids, user.id)
        held = self._wechat_ids(user.id)
        scopes = {(kind, value.partition(":")[0]) for kind, value in held}
        if len(scopes) < len(held):
            self._forget(item for item in held if item not in ids)

    @rule(user=users)
    def unbind(self, user: Person) -> None:
        held = self._wechat_ids(user.id)
        if not held:
            return
        if user.id not in self.contacts:
            assert self.api.delete("/api/v1/users/me/wechatIds", by=user).status_code == 409
            return
        assert self.logins.unbind(user, self.contacts[user.id]).status_code == 200
        self._forget(held)

    @invariant()
    def the_table_matches_the_model(self) -> None:
        every = {item for person in self.known for item in self._every_id(person)}
        query = select(credentials.c.kind, credentials.c.value, credentials.c.user_id)
        with self.api.container.database.read() as connection:
            rows = [row for row in connection.execute(query) if (row.kind, row.value) in every]
        assert {(row.kind, row.value): row.user_id for row in rows} == self.holders
        assert len(rows) == len(self.holders)

    @invariant()
    def a_person_known_to_every_app_by_the_unionid_is_one_user(self) -> None:
        for person in self.known.keys() - self.seen_without_unionid:
            ids = [item for item in self._every_id(person) if item[0] != "mobile"]
            assert len({self.holders[item] for item in ids if item in self.holders}) <= 1

    def _logged_in(self, answer: Answer, ids: list[Id]) -> Any:
        holders = {self.holders[item] for item in ids if item in self.holders}
        if len(holders) > 1:
            assert answer.status_code == 409, answer.text
            return multiple()
        person = self.logins.person(answer)
        # Only a person who matches no user becomes a new one.
        assert holders == {person.id} if holders else person.id not in self.holders.values()
        for item in ids:
            if item[0] != "mobile":
                self.holders[item] = person.id
            elif person.id not in self.contacts:
                self.holders[item], self.contacts[person.id] = person.id, item[1]
        return person

    def _ids(self, person: str, app: str) -> list[Id]:
        """Return the ids that a platform reports for a person in an app."""
        found, known = self.wechat.apps[app], self.known[person]
        unionid = found.unionid(known)
        if unionid is None:
            self.seen_without_unionid.add(person)
        ids = [("wechat", f"{found.appid}:{found.openid(known)}")]
        return ids if unionid is None else [*ids, ("wechat_union", f"main:{unionid}")]

    def _every_id(self, person: str) -> Iterator[Id]:
        known = self.known[person]
        for app in self.wechat.apps.values():
            yield "wechat", f"{app.appid}:{app.openid(known)}"
            joined = replace(app, account=ACCOUNT)
            yield "wechat_union", f"main:{joined.unionid(known)}"
        yield self._number(person)

    def _number(self, person: str) -> Id:
        return "mobile", f"+86{self.known[person].mobile}"

    def _wechat_ids(self, user_id: str) -> list[Id]:
        return [
            item for item, holder in self.holders.items() if holder == user_id and item[0] != "mobile"
        ]

    def _forget(self, ids: Iterable[Id]) -> None:
        for item in list(ids):
            del self.holders[item]


@pytest.fixture
def logins(tmp_path: Path, sqlite_databases: SqliteDatabases) -> Iterator[Logins]:
    """A server that all sequences share; each has its own people."""
    with ExitStack() as resources:
        platform = resources.enter_context(wechat())
        url = resources.enter_context(sqlite_databases.create())
        config = write_api_config(tmp_path, url, platform.config("https://127.0.0.1"))
        yield Logins(resources.enter_context(Api.running(config)), platform)


def test_never_two_users_for_one_person_nor_one_id_on_two_accounts(logins: Logins) -> None:
    People.api, People.logins = logins.api, logins
    run_state_machine_as_test(
        People,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
