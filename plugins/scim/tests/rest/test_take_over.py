"""Attempts of directories to get accounts that are not theirs: none changes anything of a victim."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from sqlalchemy import select
from tests.support.api import PASSWORD, Answer, Api, Json, Person
from tests.support.config import lifted, merged
from tests.support.databases import on_sqlite
from tests.support.directories import GROUP, PATCH, USER, Company

from strongroom.foundation.database.metadata import metadata
from strongroom.plugin_api.provisioning import GroupRecord

BULK = "urn:ietf:params:scim:api:messages:2.0:BulkRequest"
GUESSED = "0190a1b2-0000-7000-8000-000000000000"
ATTACKER = "attacker@evil.example"
LEAST = 100
"""Attempts of each directory."""

pytestmark = [
    on_sqlite,
    pytest.mark.config(merged(lifted(), {"plugins": {"enabled": ["storage_local", "scim"]}})),
]


@dataclass(frozen=True)
class Victim:
    """A user whose account a directory wants.

    Args:
        person: the user with a password and a login; ``None``: without them.
        is_created: whether the directory has created the account, so that it may end it.
    """

    id: str
    email: str
    external_id: str | None = None
    person: Person | None = None
    is_created: bool = False


@dataclass
class Attacker:
    """A directory, with a user and a group of its own."""

    api: Api
    robot: Person
    base: str
    user: str = ""
    group: str | None = None
    count: int = 0

    def send(self, method: str, path: str, body: Any = None, base: str = "") -> Answer:
        headers = {"Content-Type": "application/scim+json"}
        # Each attempt has a name and an address of its own, so that none fails because they are taken.
        self.count += 1
        text = json.dumps(body).replace(ATTACKER, f"{self.count}-{ATTACKER}")
        text = text.replace('"evil', f'"evil-{self.count}')
        options = {} if body is None else {"data": text}
        url = f"{base or self.base}{path}"
        return self.api.request(method, url, by=self.robot, headers=headers, **options)

    def create(self, name: str, **members: Any) -> Answer:
        return self.send("POST", "/Users", {"schemas": [USER], "userName": name, **members})

    def patch(self, path: str, *operations: Json) -> Answer:
        return self.send("PATCH", path, {"schemas": [PATCH], "Operations": list(operations)})

    def bulk(self, method: str, path: str, data: Any = None) -> Answer:
        operation = {"method": method, "path": path, "bulkId": "1"}
        operation |= {} if data is None else {"data": data}
        return self.send("POST", "/Bulk", {"schemas": [BULK], "Operations": [operation]})


Attempt = Callable[[Attacker, Victim], Answer]


def mine(**members: Any) -> Json:
    """Return a user with the address of the attacker."""
    emails = [{"value": ATTACKER, "type": "work", "primary": True}]
    return {"schemas": [USER], "userName": "evil", "emails": emails, **members}


def emails(address: str) -> list[Json]:
    return [{"value": address, "type": "work", "primary": True}]


def operation(op: str, path: str | None, value: Any) -> Json:
    return {"op": op, "value": value} | ({} if path is None else {"path": path})


def patches(*operations: Json) -> Attempt:
    return lambda by, victim: by.patch(f"/Users/{victim.id}", *operations)


def looks_up(text: str) -> Attempt:
    def look_up(by: Attacker, victim: Victim) -> Answer:
        values = {"id": victim.id, "email": victim.email, "external": victim.external_id or victim.id}
        return by.send("GET", "/Users?" + Company.query(filter=text.format(**values)))

    return look_up


ON_ACCOUNTS: dict[str, Attempt] = {
    "read": lambda by, v: by.send("GET", f"/Users/{v.id}"),
    "read in another case": lambda by, v: by.send("GET", f"/Users/{v.id.upper()}"),
    "find by the name": looks_up('userName eq "{email}"'),
    "find by the id": looks_up('id eq "{id}"'),
    "find by the external id": looks_up('externalId eq "{external}"'),
    "find by the address": looks_up('emails[type eq "work"].value eq "{email}"'),
    "find by a part": looks_up('emails.value co "@" or userName pr'),
    "search": lambda by, v: by.send("POST", "/Users/.search", {"filter": f'id eq "{v.id}"'}),
    "replace": lambda by, v: by.send("PUT", f"/Users/{v.id}", mine()),
    "replace with the id": lambda by, v: by.send("PUT", f"/Users/{v.id}", mine(id=v.id)),
    "replace by bulk": lambda by, v: by.bulk("PUT", f"/Users/{v.id}", mine()),
    "address": patches(operation("replace", "emails", emails(ATTACKER))),
    "address of Entra": patches(operation("Add", 'emails[type eq "work"].value', ATTACKER)),
    "address without a path": patches(operation("replace", None, {"emails": emails(ATTACKER)})),
    "no address": patches({"op": "remove", "path": "emails"}),
    "name": patches(operation("replace", "displayName", "Evil")),
    "login name": patches(operation("replace", "userName", "evil")),
    "external id": patches(operation("replace", "externalId", "evil")),
    "deactivate": patches(operation("Replace", "active", "False")),
    "deactivate without a path": patches(operation("replace", None, {"active": False})),
    "activate": patches(operation("replace", "active", value=True)),
    "password": patches(operation("replace", "password", "Evil1Password")),
    "roles": patches(operation("add", "roles", [{"value": "admin"}])),
    "change by bulk": lambda by, v: by.bulk(
        "PATCH",
        f"/Users/{v.id}",
        {"schemas": [PATCH], "Operations": [operation("replace", "active", value=False)]},
    ),
    "delete": lambda by, v: by.send("DELETE", f"/Users/{v.id}"),
    "delete by bulk": lambda by, v: by.bulk("DELETE", f"/Users/{v.id}"),
}
"""Attempts on an account that the directory has not created."""

ON_ADDRESSES: dict[str, Attempt] = {
    "create with the name": lambda by, v: by.create(v.email),
    "create with the address": lambda by, v: by.create("evil", emails=emails(v.email)),
    "create in another case": lambda by, v: by.create("evil", emails=emails(v.email.upper())),
    "create with a second address": lambda by, v: by.create(
        "evil2", emails=[*emails(ATTACKER), {"value": v.email, "type": "home"}]
    ),
    "create with the id": lambda by, v: by.create("evil3", id=v.id),
    "create with the id as external id": lambda by, v: by.create("evil4", externalId=v.id),
    "create with the external id": lambda by, v: by.create("evil5", externalId=v.external_id or "x"),
    "create without activity": lambda by, v: by.create(v.email, active=False),
    "create by bulk": lambda by, v: by.bulk(
        "POST", "/Users", {"schemas": [USER], "userName": "evil6", "emails": emails(v.email)}
    ),
    "own user to the address": lambda by, v: by.patch(
        f"/Users/{by.user}", operation("replace", "emails", emails(v.email))
    ),
    "own user to the name": lambda by, v: by.patch(
        f"/Users/{by.user}", operation("replace", "userName", v.email)
    ),
    "own user to the id": lambda by, v: by.patch(f"/Users/{by.user}", operation("replace", "id", v.id)),
    "own user replaced": lambda by, v: by.send(
        "PUT", f"/Users/{by.user}", mine(id=v.id, userName=v.email, emails=emails(v.email))
    ),
}
"""Attempts to get an account by what names it."""

VERIFIED: dict[str, Attempt] = {
    name: ON_ACCOUNTS[name]
    for name in ("address", "address of Entra", "address without a path", "no address", "password")
}
"""Attempts on an account that the directory has created, whose user has verified the address."""


def members(*values: Json) -> Json:
    return {"schemas": [GROUP], "displayName": "Evil", "members": list(values)}


ON_GROUPS: dict[str, Attempt] = {
    "group with the victim": lambda by, v: by.send("POST", "/Groups", members({"value": v.id})),
    "group with a reference": lambda by, v: by.send(
        "POST", "/Groups", members({"value": by.user, "$ref": f"Users/{v.id}"}, {"value": v.id})
    ),
    "member by bulk": lambda by, v: by.bulk("POST", "/Groups", members({"value": v.id})),
    "member of the own group": lambda by, v: by.patch(
        f"/Groups/{by.group}", operation("add", "members", [{"value": v.id}])
    ),
    "member in a replacement": lambda by, v: by.send(
        "PUT", f"/Groups/{by.group}", members({"value": v.id, "type": "User"})
    ),
    "member as a group": lambda by, v: by.send(
        "PUT", f"/Groups/{by.group}", members({"value": v.id, "type": "Group"})
    ),
    "member removed": lambda by, v: by.patch(
        f"/Groups/{by.group}", {"op": "remove", "path": f'members[value eq "{v.id}"]'}
    ),
}
"""Attempts to put a user into groups."""


def on_foreign(group: str, nested: str) -> Iterator[tuple[str, Attempt]]:
    """Yield attempts on a group that the directory has not created, and to nest it."""
    path = f"/Groups/{group}"
    yield f"{nested}: read", lambda by, _: by.send("GET", path)
    yield f"{nested}: replace", lambda by, _: by.send("PUT", path, members({"value": by.user}))
    yield (
        f"{nested}: join",
        lambda by, _: by.patch(path, operation("add", "members", [{"value": by.user}])),
    )
    yield f"{nested}: empty", lambda by, _: by.patch(path, {"op": "remove", "path": "members"})
    yield f"{nested}: rename", lambda by, _: by.patch(path, operation("replace", "displayName", "E"))
    yield f"{nested}: delete", lambda by, _: by.send("DELETE", path)
    yield f"{nested}: delete by bulk", lambda by, _: by.bulk("DELETE", path)
    yield (
        f"{nested}: nest",
        lambda by, _: by.patch(
            f"/Groups/{by.group}", operation("add", "members", [{"value": group, "type": "Group"}])
        ),
    )


class Scene:
    """Two companies, a directory of the server, and users of all of them."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.root = api.person(admin=True)
        self.companies = {name: Company.made(api) for name in ("first", "second")}
        self.attackers = {
            **{name: self._of_company(company) for name, company in self.companies.items()},
            "server": self._of_server(),
        }
        self.groups = {name: self._make_groups(company) for name, company in self.companies.items()}

    def _of_company(self, company: Company) -> Attacker:
        attacker = Attacker(self.api, company.robot, "/scim/v2")
        attacker.user = attacker.create("own", emails=emails(f"own@{company.tenant}.example")).json["id"]
        body = {"schemas": [GROUP], "displayName": "Own", "members": [{"value": attacker.user}]}
        attacker.group = attacker.send("POST", "/Groups", body).json["id"]
        return attacker

    def _of_server(self) -> Attacker:
        account = self.api.post("/api/v1/service-accounts", {"name": "HR"}, by=self.root).json["id"]
        body = {"name": "key", "scopes": ["users:write"], "currentPassword": PASSWORD}
        key = self.api.post(f"/users/{account}/access-keys", body, by=self.root).json["key"]
        registered = {"name": "HR", "accountId": account}
        self.api.post("/api/v1/directories", registered, by=self.root)
        attacker = Attacker(self.api, replace(self.root, token=key), "/scim/v2")
        attacker.user = attacker.create("own", emails=emails("own@server.example")).json["id"]
        return attacker

    def _make_groups(self, company: Company) -> dict[str, str]:
        """Return a group of the directory, and one that an administrator has made."""
        api = self.api
        own = api.post(f"{company.path}/groups", {"name": "By hand"}, by=company.owner).json["id"]
        api.put(f"{company.path}/groups/{own}/members/{company.owner.id}", {}, by=company.owner)
        with company.acting() as host:
            user = company.host.tenants.find_roles(company.owner.id, [company.tenant])
            assert user == {company.tenant: "admin"}
            made = host.provisioning.provision_group(company.tenant, GroupRecord("Directory's"))
        return {"by hand": own, "of the directory": made.id}

    def victims(self, name: str) -> dict[str, Victim]:
        """Return the users that a directory may not touch, by what they are."""
        api = self.api
        people: dict[str, Person] = {
            "person who registered": api.person(),
            "administrator": self.root,
            **{f"owner of the {key} company": item.owner for key, item in self.companies.items()},
        }
        victims = {key: Victim(item.id, item.email, None, item) for key, item in people.items()}
        for key, company in self.companies.items():
            if key != name:
                email = f"user@{key}.example"
                made = company.scim_user(email, externalId=f"of-{key}", emails=emails(email))
                victims[f"user of the {key} company"] = Victim(made["id"], email, f"of-{key}")
        if name != "server":
            user = self.attackers["server"].create("hr", externalId="hr", emails=emails("hr@s.example"))
            victims["user of the server"] = Victim(user.json["id"], "hr@s.example", "hr")
            # The directory of the server changes addresses of accounts that it has created.
            victims["user with a verified address"] = self._verify(name)
        victims["guessed id"] = Victim(GUESSED, "guessed@elsewhere.example")
        return victims

    def _verify(self, name: str) -> Victim:
        """Return a user of the directory itself, who has verified the address."""
        email = f"verified@{name}.example"
        user = self.attackers[name].create(email, emails=emails(email)).json
        body = {"value": email, "verified": True}
        answer = self.api.put(f"/users/{user['id']}/contacts/email", body, by=self.root)
        assert answer.status_code == 200, answer.text
        return Victim(user["id"], email, is_created=True)

    def rows(self, victim: Victim) -> Mapping[str, Any]:
        """Return all rows of the server about a user, except what its own directory says."""
        rows: dict[str, Any] = {}
        left_out = {"audit_events", "unsealed_audit_events"}
        left_out |= {"provisioned_users"} if victim.is_created else set()
        with self.api.container.database.read() as connection:
            for table in metadata.sorted_tables:
                column = table.c.get("user_id") if table.name != "users" else table.c.id
                if column is not None and table.name not in left_out:
                    query = select(table).where(column == victim.id)
                    rows[table.name] = sorted(map(str, connection.execute(query).all()))
        return rows


@pytest.fixture
def scene(api: Api) -> Scene:
    return Scene(api)


def attempts(scene: Scene, name: str) -> Iterator[tuple[str, Attempt, Victim]]:
    """Yield the attempts of a directory; the one of the server has no groups."""
    victims = scene.victims(name)
    for who, victim in victims.items():
        table = dict(VERIFIED if victim.is_created else {**ON_ACCOUNTS, **ON_ADDRESSES})
        if name != "server" and not victim.is_created:
            table |= ON_GROUPS
        yield from ((f"{who}: {what}", attempt, victim) for what, attempt in table.items())
    bystander = victims["person who registered"]
    for key, groups in scene.groups.items():
        for kind, group in groups.items():
            if name != "server" and (key != name or kind == "by hand"):
                for what, attempt in on_foreign(group, f"group {kind} of the {key} company"):
                    yield what, attempt, bystander


def members_of(scene: Scene) -> dict[str, Any]:
    """Return the members of the groups that no directory may touch."""
    return {
        f"{name} {kind}": scene.api.get(
            f"{scene.companies[name].path}/groups/{group}/members", by=scene.companies[name].owner
        ).json["data"]
        for name, groups in scene.groups.items()
        for kind, group in groups.items()
    }


@pytest.mark.parametrize("name", ["first", "second", "server"])
def test_no_attempt_changes_a_victim(scene: Scene, name: str) -> None:
    attacker, successes, count = scene.attackers[name], [], 0
    groups = members_of(scene)
    for what, attempt, victim in attempts(scene, name):
        count += 1
        before = scene.rows(victim)
        answer = attempt(attacker, victim)
        assert answer.status_code < 500, (what, answer.text)
        if scene.rows(victim) != before or (not victim.is_created and is_seen(answer, victim)):
            successes.append(f"{what}: {answer.status_code} {answer.text}")
    assert successes == []
    assert count >= LEAST
    assert members_of(scene) == groups


def is_seen(answer: Answer, victim: Victim) -> bool:
    """Return whether a response shows a user of others."""
    body = answer.json if answer.data else {}
    resources = body.get("Resources", [body]) if isinstance(body, dict) else []
    listed = [member.get("value") for item in resources for member in item.get("members") or ()]
    return victim.id in [*(item.get("id") for item in resources), *listed]


@pytest.mark.parametrize("name", ["first", "second", "server"])
def test_directories_open_no_other_area(scene: Scene, name: str) -> None:
    attacker = scene.attackers[name]
    for key, company in scene.companies.items():
        if key == name:
            continue
        base = f"/scim/v2/tenants/{company.tenant}"
        for method, path, body in (
            ("GET", "/Users", None),
            ("POST", "/Users", mine()),
            ("POST", "/Groups", members()),
            ("POST", "/Bulk", {"schemas": [BULK], "Operations": []}),
            ("PUT", f"/Users/{company.owner.id}", mine()),
            ("DELETE", f"/Users/{company.owner.id}", None),
        ):
            answer = attacker.send(method, path, body, base)
            assert answer.status_code == 403, (key, method, path, answer.text)


def test_logins_and_resets_stay_the_victims(scene: Scene) -> None:
    api = scene.api
    victim = api.person()
    for attacker in scene.attackers.values():
        named = Victim(victim.id, victim.email, None, victim)
        table = {**ON_ACCOUNTS, **ON_ADDRESSES, **(ON_GROUPS if attacker.group else {})}
        for attempt in table.values():
            attempt(attacker, named)
    assert api.get("/users/me", by=victim).json["id"] == victim.id
    login = api.log_in(victim.email)
    assert login.status_code == 200, login.text
    code = api.code(victim.email, "reset-password")
    body = {"verificationCode": code, "newPassword": "Another1Password"}
    assert api.post(f"/users/{victim.email}/reset-password", body).status_code == 200
    token = api.log_in(victim.email, "Another1Password").json["accessToken"]
    me = api.get("/users/me", headers={"Authorization": f"Bearer {token}"}).json
    assert (me["id"], me["email"], me["type"]) == (victim.id, victim.email, "USER")
