"""Users over SCIM, in the dialects of Entra and Okta."""

import pytest
from tests.support.api import Api, Json
from tests.support.config import lifted, merged
from tests.support.databases import on_sqlite
from tests.support.directories import USER, Company

ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"

pytestmark = [
    on_sqlite,
    pytest.mark.config(merged(lifted(), {"plugins": {"enabled": ["storage_local", "scim"]}})),
]


@pytest.fixture
def company(api: Api) -> Company:
    return Company.made(api)


def ids(answer: Json) -> list[str]:
    return [item["id"] for item in answer.get("Resources", [])]


def test_a_new_user_has_a_location_and_a_version(company: Company) -> None:
    body = {
        "schemas": [USER, ENTERPRISE],
        "userName": "Ann@acme.example",
        "externalId": "e1",
        "name": {"givenName": "Ann", "familyName": "Lee"},
        "emails": [{"value": "ann@acme.example", "type": "work", "primary": True}],
        "password": "secret",
        "groups": [],
        "active": True,
        ENTERPRISE: {"department": "Sales", "manager": "boss"},
    }
    answer = company.scim("POST", "/Users", body)
    assert answer.status_code == 201, answer.text
    user = answer.json
    assert answer.headers["Content-Type"] == "application/scim+json"
    assert answer.headers["Location"] == user["meta"]["location"]
    assert user["meta"]["location"].endswith(f"/scim/v2/Users/{user['id']}")
    assert answer.headers["ETag"] == user["meta"]["version"]
    assert "password" not in answer.text
    assert user[ENTERPRISE]["manager"]["value"] == "boss"
    again = company.scim("GET", f"/Users/{user['id']}").json
    assert again == user
    assert company.role(company.user(user["id"])) == "member"
    refused = company.scim("POST", "/Users", body)
    assert (refused.status_code, refused.json["scimType"]) == (409, "uniqueness")


def test_filters_find_users(company: Company) -> None:
    ann = company.scim_user(externalId="e1", emails=[{"value": "ann@acme.example", "type": "work"}])
    ben = company.scim_user("ben@acme.example", title="CEO", active=False)
    for text, expected in {
        'userName eq "ANN@acme.example"': [ann],
        'externalId eq "e1"': [ann],
        'externalId eq "E1"': [],
        'emails[type eq "work"].value eq "ann@acme.example"': [ann],
        'emails.value eq "Ann@acme.example"': [ann],
        f'id eq "{ben["id"]}"': [ben],
        "active eq false": [ben],
        'title co "ce" and userName sw "b"': [ben],
        'userName eq "ann@acme.example" and active eq true': [ann],
        'userName eq "nobody"': [],
        'not (userName eq "ann@acme.example")': [ben],
    }.items():
        answer = company.scim("GET", "/Users?" + company.query(filter=text))
        assert answer.status_code == 200, (text, answer.text)
        assert ids(answer.json) == [user["id"] for user in expected], text
        assert answer.json["totalResults"] == len(expected), text
    refused = company.scim("GET", "/Users?filter=userName+xx")
    assert (refused.status_code, refused.json["scimType"]) == (400, "invalidFilter")


def test_pages_have_a_stable_order(company: Company) -> None:
    users = [company.scim_user(f"user{number}@acme.example")["id"] for number in range(5)]
    first = company.scim("GET", "/Users?startIndex=1&count=2").json
    assert (first["totalResults"], first["itemsPerPage"], first["startIndex"]) == (5, 2, 1)
    assert ids(first) == users[:2]
    assert ids(company.scim("GET", "/Users?startIndex=3&count=9").json) == users[2:]
    assert ids(company.scim("GET", "/Users?startIndex=-5&count=2").json) == users[:2]
    assert ids(company.scim("GET", "/Users?count=-1").json) == []


DEACTIVATIONS: dict[str, list[Json]] = {
    "Entra": [{"op": "Replace", "path": "active", "value": "False"}],
    "Entra, strict": [{"op": "replace", "path": "active", "value": False}],
    "Okta": [{"op": "replace", "value": {"active": False}}],
    "OneLogin": [{"op": "REPLACE", "path": "active", "value": "false"}],
}


@pytest.mark.parametrize("dialect", DEACTIVATIONS)
def test_each_client_deactivates_and_activates(company: Company, dialect: str) -> None:
    user = company.scim_user()
    path = f"/Users/{user['id']}"
    answer = company.patch(path, *DEACTIVATIONS[dialect])
    assert (answer.status_code, answer.json["active"]) == (200, False), answer.text
    assert company.role(company.user(user["id"])) is None
    # Entra reads the user to see that the deactivation is no deletion.
    assert company.scim("GET", path).json["active"] is False
    assert company.scim("GET", "/Users").json["totalResults"] == 1
    answer = company.patch(path, {"op": "Replace", "path": "active", "value": "True"})
    assert answer.json["active"] is True
    assert company.role(company.user(user["id"])) == "member"


def test_entra_changes_attributes(company: Company) -> None:
    user = company.scim_user()
    answer = company.patch(
        f"/Users/{user['id']}",
        {"op": "Add", "path": 'emails[type eq "work"].value', "value": "ann@new.example"},
        {"op": "Replace", "path": "name.givenName", "value": "Anna"},
        {"op": "Add", "path": f"{ENTERPRISE}:manager", "value": "boss"},
        {"op": "replace", "value": {"name.familyName": "Li", f"{ENTERPRISE}:department": "IT"}},
        {"op": "Remove", "path": "displayName"},
    )
    assert answer.status_code == 200, answer.text
    changed = answer.json
    assert changed["emails"] == [{"type": "work", "value": "ann@new.example"}]
    assert changed["name"] == {"givenName": "Anna", "familyName": "Li"}
    assert changed[ENTERPRISE]["department"] == "IT"
    assert changed[ENTERPRISE]["manager"]["value"] == "boss"
    assert "displayName" not in changed
    account = company.api.get(f"/users/{user['id']}", by=company.api.person(admin=True)).json
    assert (account["name"], account["email"]) == ("Anna Li", "ann@new.example")
    assert account["emailVerified"] is False


def test_put_replaces_and_the_second_changes_nothing(company: Company) -> None:
    user = company.scim_user(title="CEO")
    body = {"schemas": [USER], "userName": user["userName"], "displayName": "Anna", "active": True}
    changed = company.scim("PUT", f"/Users/{user['id']}", body)
    assert changed.status_code == 200, changed.text
    assert "title" not in changed.json
    again = company.scim("PUT", f"/Users/{user['id']}", body)
    assert again.json["meta"] == changed.json["meta"]
    stale = company.scim("PUT", f"/Users/{user['id']}", body, **{"If-Match": user["meta"]["version"]})
    assert stale.status_code == 412
    fresh = {"If-None-Match": changed.json["meta"]["version"]}
    assert company.scim("GET", f"/Users/{user['id']}", **fresh).status_code == 304


def test_responses_have_the_requested_attributes(company: Company) -> None:
    user = company.scim_user(title="CEO")
    some = company.scim("GET", f"/Users/{user['id']}?attributes=userName,title").json
    assert set(some) == {"schemas", "id", "userName", "title"}
    most = company.scim("GET", f"/Users/{user['id']}?excludedAttributes=title").json
    assert "title" not in most
    assert "userName" in most


def test_a_deleted_user_is_gone_and_can_come_back(company: Company) -> None:
    user = company.scim_user(externalId="e1")
    assert company.scim("DELETE", f"/Users/{user['id']}").status_code == 204
    assert company.scim("GET", f"/Users/{user['id']}").status_code == 404
    assert company.scim("GET", "/Users").json["totalResults"] == 0
    assert company.scim_user(externalId="e1")["id"] != user["id"]


def test_a_bulk_request_creates_users_and_a_group_of_them(company: Company) -> None:
    users = [
        {
            "method": "POST",
            "path": "/Users",
            "bulkId": f"u{number}",
            "data": {"schemas": [USER], "userName": f"user{number}@acme.example"},
        }
        for number in range(3)
    ]
    group = {
        "method": "POST",
        "path": "/Groups",
        "bulkId": "g",
        "data": {"displayName": "All", "members": [{"value": "bulkId:u1"}]},
    }
    body = {
        "schemas": ["urn:ietf:params:scim:api:messages:2.0:BulkRequest"],
        "Operations": [*users, group, {**users[0], "bulkId": "again"}],
    }
    answer = company.scim("POST", "/Bulk", body)
    assert answer.status_code == 200, answer.text
    statuses = [int(item["status"]) for item in answer.json["Operations"]]
    assert statuses == [201, 201, 201, 201, 409]
    (made,) = company.scim("GET", "/Groups").json["Resources"]
    assert len(made["members"]) == 1


def test_discovery(company: Company) -> None:
    config = company.scim("GET", "/ServiceProviderConfig").json
    assert config["patch"]["supported"]
    assert config["bulk"] == {"supported": True, "maxOperations": 500, "maxPayloadSize": 1048576}
    assert not config["sort"]["supported"]
    kinds = company.scim("GET", "/ResourceTypes").json["Resources"]
    assert {kind["name"] for kind in kinds} == {"User", "Group"}
    assert company.scim("GET", f"/Schemas/{USER}").json["name"] == "User"
    base = f"/tenants/{company.tenant}"
    assert company.scim("GET", f"{base}/Users").json["totalResults"] == 0
    made = company.scim("POST", f"{base}/Users", {"schemas": [USER], "userName": "x"}).json
    assert made["meta"]["location"].endswith(f"/scim/v2{base}/Users/{made['id']}")


@pytest.mark.parametrize(
    "body",
    [
        "[]",
        "{",
        '{"userName": 5}',
        '{"schemas": 1}',
        "[" * 5000,
        '{"a":' * 5000,
        '{"userName": "\\ud800"}',
        '{"userName": "a\\u0000b"}',
        '{"userName": "x", "emails": [{"value": "no address"}]}',
        '{"userName": "' + "x" * 300 + '"}',
        '{"userName": "x", "title": "' + "x" * 40000 + '"}',
        '{"userName": ""}',
        "null",
    ],
)
def test_odd_bodies_are_refused(company: Company, body: str) -> None:
    headers = {"Content-Type": "application/scim+json"}
    for method, path in (("POST", "/Users"), ("POST", "/Bulk"), ("POST", "/Users/.search")):
        answer = company.api.request(
            method, f"/scim/v2{path}", by=company.robot, data=body, headers=headers
        )
        assert 400 <= answer.status_code < 500 or path != "/Users", (path, answer.text)
        assert answer.status_code < 500, (path, answer.text)


@pytest.mark.parametrize(
    "query",
    [
        {"filter": "(" * 2000 + 'userName eq "x"' + ")" * 2000},
        {"filter": "not (" * 700 + 'userName eq "x"' + ")" * 700},
        {"filter": 'userName eq "\ud800"'.encode("utf-8", "surrogatepass").decode("latin-1")},
        {"filter": 'userName eq "a\0"'},
        {"filter": 'id eq "x"', "startIndex": "99999999999999999999"},
        {"startIndex": "x"},
        {"count": "99999999999999999999"},
        {"attributes": "a" * 3000},
        {"attributes": "userName", "excludedAttributes": "userName"},
        {"cursor": ""},
        {"sortBy": "userName"},
    ],
)
def test_odd_queries_are_answered(company: Company, query: dict[str, str]) -> None:
    answer = company.scim("GET", "/Users?" + company.query(**query))
    assert answer.status_code in (200, 400, 414, 501), answer.text


def test_many_operations_are_refused(company: Company) -> None:
    user = company.scim_user()
    operations = [{"op": "replace", "path": "title", "value": "x"}] * 501
    assert company.patch(f"/Users/{user['id']}", *operations).status_code == 400


def test_only_directories_are_served(company: Company) -> None:
    api = company.api
    anonymous = api.request("GET", "/scim/v2/Users")
    assert anonymous.status_code == 401
    assert "resource_metadata=" in anonymous.headers["WWW-Authenticate"]
    assert anonymous.json["status"] == "401"
    for person in (company.owner, api.person(admin=True)):
        for path in ("/Users", f"/tenants/{company.tenant}/Users", "/ServiceProviderConfig"):
            assert api.request("GET", f"/scim/v2{path}", by=person).status_code == 403
    other = Company.made(api)
    assert company.scim("GET", f"/tenants/{other.tenant}/Users").status_code == 403
