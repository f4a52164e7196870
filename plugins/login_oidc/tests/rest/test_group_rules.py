"""Rules give memberships of tenants and groups by the claims of a provider, and take back their own."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support.api import Api, Person
from tests.support.audit import reading_sealed
from tests.support.config import Table, write_api_config

from strongroom.assembly.app import create_app
from strongroom.foundation.config import ConfigurationError, load
from strongroom.plugin_api.host import HostAPI
from strongroom_login_oidc.groups import find_claim, matches
from strongroom_login_oidc.method import OIDCLogin
from strongroom_login_oidc.provider_settings import GroupRule

from ..hostile import REMOVED, HostileProvider
from .browsers import People, configured


@dataclass
class Office:
    """Two tenants of an administrator, with rules by the claim ``teams``."""

    api: Api
    people: People
    provider: HostileProvider
    host: HostAPI
    admin: Person
    acme: str
    sales: str
    other: str

    def log_in(self, *teams: str) -> str:
        """Log in a person who is in some teams; return the id of the user."""
        self.provider.claims["teams"] = list(teams)
        issued = self.people.log_in()
        assert issued.status_code == 200, issued.text
        user_id: str = issued.json["user"]["id"]
        return user_id

    def memberships(self, user_id: str) -> dict[str, str | None]:
        """Return the role in each tenant, and whether the user is in the group."""
        with self.host.acting_as(user_id):
            tenants = self.host.tenants
            roles = {"acme": tenants.role(self.acme), "other": tenants.role(self.other)}
            groups = tenants.groups(self.acme, user_id=user_id).items if roles["acme"] else []
        in_sales = any(group.id == self.sales for group in groups)
        return {**roles, "sales": "in" if in_sales else None}


NONE = {"acme": None, "other": None, "sales": None}


@pytest.fixture
def office(
    api: Api, people: People, provider: HostileProvider, monkeypatch: pytest.MonkeyPatch
) -> Office:
    admin, host = api.person(admin=True), api.container.hosts.get("login_oidc")
    acme, other = (api.tenant(admin).rpartition("/")[2] for _ in range(2))
    body = {"name": "Sales"}
    sales = api.post(f"/api/v1/tenants/{acme}/groups", body, by=admin).json["id"]
    rules = {
        "sales": GroupRule(claim="teams", value="sales", tenant=acme, group=sales),
        "staff": GroupRule(claim="teams", value="staff", tenant=acme),
        "chiefs": GroupRule(claim="teams", value="chiefs", tenant=other, role="admin"),
    }
    method = host.extension(OIDCLogin)
    assert method is not None
    # The ids of tenants are known after the start only.
    replace_frozen(method.options, administrator_id=admin.id)
    replace_frozen(method.options.providers["company"], groups=rules)
    return Office(api, people, provider, host, admin, acme, sales, other)


def replace_frozen(options: Any, **changes: Any) -> None:
    for name, value in changes.items():
        object.__setattr__(options, name, value)


@pytest.mark.both_databases
def test_a_value_gives_and_its_end_takes(office: Office) -> None:
    user = office.log_in("sales", "chiefs")
    assert office.memberships(user) == {"acme": "member", "other": "admin", "sales": "in"}
    assert office.log_in("chiefs") == user
    assert office.memberships(user) == {**NONE, "other": "admin"}
    office.log_in()
    assert office.memberships(user) == NONE
    office.log_in("sales")
    assert office.memberships(user) == {**NONE, "acme": "member", "sales": "in"}


def test_an_absent_claim_takes_too(office: Office) -> None:
    user = office.log_in("sales")
    office.provider.claims["teams"] = REMOVED
    office.people.log_in()
    assert office.memberships(user) == NONE


def test_what_the_user_had_before_stays(office: Office) -> None:
    user = office.log_in()
    with office.host.acting_as(office.admin.id):
        office.host.tenants.put_member(office.acme, user, "admin")
        office.host.tenants.put_group_member(office.acme, office.sales, user)
    before = office.memberships(user)
    for teams in (["sales", "staff"], []):
        office.log_in(*teams)
        assert office.memberships(user) == before == {"acme": "admin", "other": None, "sales": "in"}


def test_a_tenant_stays_while_another_rule_needs_it(office: Office) -> None:
    user = office.log_in("sales")
    office.log_in("sales", "staff")
    office.log_in("staff")
    assert office.memberships(user) == {**NONE, "acme": "member"}
    office.log_in()
    assert office.memberships(user) == NONE


def test_an_administrator_may_end_it_until_the_value_comes_back(office: Office) -> None:
    user = office.log_in("sales")
    with office.host.acting_as(office.admin.id):
        office.host.tenants.remove_group_member(office.acme, office.sales, user)
    office.log_in("sales")
    assert office.memberships(user)["sales"] is None
    office.log_in()
    office.log_in("sales")
    assert office.memberships(user)["sales"] == "in"


def test_a_rule_that_is_removed_takes_back_what_it_gave(office: Office) -> None:
    user = office.log_in("sales")
    method = office.host.extension(OIDCLogin)
    assert method is not None
    replace_frozen(method.options.providers["company"], groups={})
    office.log_in("sales")
    assert office.memberships(user) == NONE


def test_a_rule_that_fails_is_tried_at_the_next_login(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    method = office.host.extension(OIDCLogin)
    assert method is not None
    rules = method.options.providers["company"].groups
    broken = GroupRule(claim="teams", value="sales", tenant="0190a1b2-0000-7000-8000-000000000000")
    replace_frozen(method.options.providers["company"], groups={**rules, "sales": broken})
    user = office.log_in("sales", "chiefs")
    assert office.memberships(user) == {**NONE, "other": "admin"}
    assert "The rule 'sales' of groups failed" in caplog.text
    replace_frozen(method.options.providers["company"], groups=rules)
    office.log_in("sales", "chiefs")
    assert office.memberships(user)["sales"] == "in"


def test_the_record_names_the_administrator_and_the_plugin(office: Office) -> None:
    office.log_in("sales")
    statement = "SELECT actor_id, details FROM audit_events WHERE action = 'group-member.add'"
    with reading_sealed(office.api.container.database) as connection:
        rows = [tuple(row) for row in connection.exec_driver_sql(statement)]
    assert [(actor, "login_oidc" in str(details)) for actor, details in rows] == [
        (office.admin.id, True)
    ]


def test_rules_need_an_administrator(
    provider: HostileProvider, tmp_path: Path, database_url: str
) -> None:
    rule = {"claim": "teams", "value": "sales", "tenant": "a"}
    client = configured(provider, groups={"sales": rule})
    oidc = {"providers": {"company": client}, "allow_insecure_loopback": True}
    changes: Table = {
        "plugins": {"enabled": ["storage_local", "login_oidc"]},
        "login": {"methods": ["password", "oidc"], "oidc": oidc},
    }
    config = write_api_config(tmp_path, database_url, changes)
    with pytest.raises(ConfigurationError, match="administrator_id"):
        create_app(load(config, {}))


@pytest.mark.parametrize(
    ("claims", "name", "expected"),
    [
        ({"a": "x"}, "a", True),
        ({"a": ["y", "x"]}, "a", True),
        ({"a": {"b": ["x"]}}, "a.b", True),
        ({"a.b": "x", "a": {"b": "y"}}, "a.b", True),
        ({"a": "xy"}, "a", False),
        ({"a": {"x": 1}}, "a", False),
        ({"a": "x"}, "a.b", False),
        ({}, "a", False),
    ],
)
def test_a_value_is_compared_as_a_whole(claims: dict[str, Any], name: str, expected: bool) -> None:
    rule = GroupRule(claim=name, value="x", tenant="t")
    assert matches(rule, claims) is expected
    assert (find_claim(claims, name) is None) is (name not in claims and not expected)
