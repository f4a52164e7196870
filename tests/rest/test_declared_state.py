"""``strongroom apply`` makes what a file declares, and nothing else."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support.client import Client
from tests.support.commands import run_command
from tests.support.databases import on_sqlite
from tests.support.server import Server, serving

PLUGINS = ["storage_local", "login_pages", "webhooks", "share_links", "oidc_provider"]

pytestmark = pytest.mark.config({"plugins": {"enabled": PLUGINS}})

ADMINISTRATOR = "chief@example.com"

SALES = """
set = "company"

[[tenants]]
name = "Sales"
quotaBytes = 1000000

[[tenants.groups]]
name = "Editors"
"""


@dataclass
class Desk:
    """An administrator's files, and the command that applies them."""

    server: Server
    folder: Path
    client: Client

    def run(
        self, text: str, *options: str, by: str = ADMINISTRATOR
    ) -> "subprocess.CompletedProcess[str]":
        path = self.folder / "state.toml"
        path.write_text(text, encoding="utf-8")
        config = ("--config", str(self.server.config))
        return run_command(*config, "apply", "-f", str(path), "--as", by, *options)

    def apply(self, text: str, *options: str) -> list[str]:
        result = self.run(text, *options)
        assert result.returncode == 0, result.stderr
        return result.stdout.splitlines()

    def tenants(self) -> dict[str, str]:
        page = self.client.expect(200, "GET", "/api/v1/tenants").json()
        return {tenant["name"]: tenant["id"] for tenant in page["data"]}


@pytest.fixture
def server(server_config: Path) -> Iterator[Server]:
    upgraded = run_command("--config", str(server_config), "db", "upgrade")
    assert upgraded.returncode == 0, upgraded.stderr
    with serving(server_config) as server:
        yield server


@pytest.fixture
def desk(server: Server, tmp_path: Path) -> Desk:
    server.create_user(ADMINISTRATOR, "Correct1Horse", "--admin")
    return Desk(server, tmp_path, Client.logged_in(server.url, ADMINISTRATOR))


def test_a_second_run_changes_nothing(desk: Desk) -> None:
    assert desk.apply(SALES)[-1] == "2 to create, 0 to change, 0 to delete, 0 to keep"
    assert desk.apply(SALES) == ["0 to create, 0 to change, 0 to delete, 2 to keep"]


@on_sqlite
def test_a_plan_changes_nothing_and_its_exit_code_tells_the_difference(desk: Desk) -> None:
    planned = desk.run(SALES, "--plan")
    assert planned.returncode == 4
    assert planned.stdout.splitlines()[:2] == ['+ tenants "Sales"', '+ tenants "Sales" groups "Editors"']
    assert desk.tenants() == {}
    desk.apply(SALES)
    assert desk.run(SALES, "--plan").returncode == 0


@on_sqlite
def test_a_change_by_hand_is_named_and_undone(desk: Desk) -> None:
    desk.apply(SALES)
    path = f"/api/v1/tenants/{desk.tenants()['Sales']}"
    desk.client.expect(200, "PATCH", path, {"name": "Renamed", "quotaBytes": 5})
    planned = json.loads(desk.run(SALES, "--plan", "--json").stdout)
    assert planned["changes"] == [
        {
            "action": "change",
            "resource": 'tenants "Sales"',
            "members": ["name", "quotaBytes"],
            "drift": True,
        }
    ]
    desk.apply(SALES)
    assert "Sales" in desk.tenants()


@on_sqlite
def test_members_that_the_file_does_not_have_stay(desk: Desk) -> None:
    desk.apply(SALES)
    desk.apply(SALES.replace("quotaBytes = 1000000\n", ""))
    path = f"/api/v1/tenants/{desk.tenants()['Sales']}"
    assert desk.client.expect(200, "GET", path).json()["quotaBytes"] == 1000000


@on_sqlite
def test_a_resource_of_the_same_name_is_taken_over(desk: Desk) -> None:
    path = desk.client.make_tenant("Sales")
    desk.apply(SALES)
    assert desk.client.expect(200, "GET", path).json()["quotaBytes"] == 1000000
    assert len(desk.tenants()) == 1


@on_sqlite
def test_two_resources_of_the_same_name_are_refused(desk: Desk) -> None:
    for _ in range(2):
        desk.client.make_tenant("Sales")
    refused = desk.run(SALES)
    assert refused.returncode == 1
    assert "2 tenants have the key 'Sales'" in refused.stderr


def test_only_what_a_file_of_the_set_has_declared_is_deleted(desk: Desk) -> None:
    desk.client.make_tenant("By hand")
    desk.apply(SALES.replace("company", "other").replace("Sales", "Other"))
    desk.apply(SALES)
    assert desk.apply('set = "company"')[0] == '? tenants "Sales" groups "Editors"'
    assert set(desk.tenants()) == {"By hand", "Other", "Sales"}
    deleted = desk.apply('set = "company"', "--prune")
    assert deleted[:2] == ['- tenants "Sales" groups "Editors"', '- tenants "Sales"']
    assert set(desk.tenants()) == {"By hand", "Other"}
    assert desk.apply('set = "company"', "--prune") == [
        "0 to create, 0 to change, 0 to delete, 0 to keep"
    ]


@on_sqlite
def test_a_group_that_leaves_the_file_is_deleted_without_its_tenant(desk: Desk) -> None:
    desk.apply(SALES)
    renamed = SALES.replace("Editors", "Writers")
    former = 'tenants "Sales" groups "Editors"'
    assert f"? {former}" in desk.apply(renamed)
    assert desk.apply(renamed, "--prune") == [
        f"- {former}",
        "0 to create, 0 to change, 1 to delete, 2 to keep",
    ]
    path = f"/api/v1/tenants/{desk.tenants()['Sales']}/groups"
    groups = desk.client.expect(200, "GET", path).json()["data"]
    assert [group["name"] for group in groups] == ["Writers"]


@on_sqlite
def test_what_was_deleted_by_hand_is_forgotten(desk: Desk) -> None:
    desk.apply(SALES)
    desk.client.expect(200, "DELETE", f"/api/v1/tenants/{desk.tenants()['Sales']}")
    desk.apply('set = "company"', "--prune")
    assert desk.run('set = "company"', "--plan", "--prune").returncode == 0


@on_sqlite
def test_what_was_deleted_by_hand_is_created_once(desk: Desk) -> None:
    desk.apply(SALES)
    desk.client.expect(200, "DELETE", f"/api/v1/tenants/{desk.tenants()['Sales']}")
    created = ['+ tenants "Sales"', '+ tenants "Sales" groups "Editors"']
    assert desk.apply(SALES) == [*created, "2 to create, 0 to change, 0 to delete, 0 to keep"]
    assert desk.apply(SALES) == ["0 to create, 0 to change, 0 to delete, 2 to keep"]


@on_sqlite
def test_a_user_is_a_member_once(desk: Desk) -> None:
    user = desk.server.create_user("anna@example.com")
    members = f"""members = [{{ user = "anna@example.com", role = "admin" }},
        {{ user = "{user["id"]}", role = "member" }}]"""
    refused = desk.run(f'[[tenants]]\nname = "Sales"\n{members}')
    assert "is the same user as anna@example.com" in refused.stderr
    assert desk.tenants() == {}


@on_sqlite
def test_nothing_is_changed_while_the_file_has_a_fault(desk: Desk) -> None:
    refused = desk.run(SALES + '[[clients]]\nname = "Z"\nscopes = ["BAD SCOPE"]\n')
    assert refused.returncode == 1
    assert "clients.1.scopes.0: Must be a scope such as files:read." in refused.stderr
    assert desk.tenants() == {}


@on_sqlite
def test_a_request_that_is_refused_ends_the_command_and_can_be_repeated(desk: Desk) -> None:
    client = '[[clients]]\nname = "Z"\nredirectUris = ["http://evil.example.com/x"]\n'
    refused = desk.run(SALES + client)
    assert refused.returncode == 1
    assert 'clients "Z":' in refused.stderr
    assert "redirectUris.0" in refused.stderr
    assert desk.apply(SALES + client.replace("http:", "https:"))[0] == '+ clients "Z"'


@pytest.mark.parametrize(
    ("by", "said"), [("nobody@example.com", "there is no user"), ("anna@example.com", "You may not")]
)
@on_sqlite
def test_only_an_administrator_of_the_server_applies(desk: Desk, by: str, said: str) -> None:
    desk.server.create_user("anna@example.com")
    refused = desk.run(SALES, by=by)
    assert refused.returncode == 1
    assert said in refused.stderr


@on_sqlite
def test_the_login_of_the_command_ends_with_it(desk: Desk) -> None:
    desk.apply(SALES)
    desk.run(SALES + "[[clients]]\nname = 'Z'\nredirectUris = ['http://x.example/y']\n")
    logins = desk.client.expect(200, "GET", "/users/me/authorizations").json()["data"]
    assert [login["method"] for login in logins] == ["password"]


@on_sqlite
def test_the_audit_log_names_the_administrator_and_the_command(desk: Desk) -> None:
    desk.apply(SALES)
    records = desk.client.expect(200, "GET", "/audit-events?pageSize=200").json()["data"]
    made = {record["action"]: record for record in records}
    for action in ("declaration.apply", "tenant.create", "tenant.update", "group.create"):
        assert made[action]["actor"]["$ref"] == made["declaration.apply"]["actor"]["$ref"], action
        assert made[action]["userAgent"] == "strongroom apply", action


@on_sqlite
def test_secrets_go_to_a_file_that_only_its_owner_reads(desk: Desk) -> None:
    text = '[[clients]]\nname = "Shop"\nredirectUris = ["https://shop.example.com/callback"]\n'
    path = desk.folder / "secrets.jsonl"
    printed = desk.apply(text, "--secrets", str(path))
    kept = json.loads(path.read_text())
    assert kept["resource"] == 'clients "Shop"'
    assert kept["secret"] not in "".join(printed)
    assert path.stat().st_mode & 0o777 == 0o600


@on_sqlite
def test_a_reference_is_the_id_of_the_named_resource(desk: Desk) -> None:
    desk.apply(
        '[[serviceAccounts]]\nname = "nightly"\n[[clients]]\nname = "Robot"\n'
        'serviceAccountId = "nightly"\n'
    )
    accounts = desk.client.expect(200, "GET", "/api/v1/service-accounts").json()["data"]
    clients = desk.client.expect(200, "GET", "/api/v1/clients").json()["data"]
    assert clients[0]["serviceAccountId"] == accounts[0]["id"]


@on_sqlite
def test_a_reference_to_nothing_is_refused(desk: Desk) -> None:
    refused = desk.run('[[clients]]\nname = "Robot"\nserviceAccountId = "nightly"\n')
    assert 'there are 0 serviceAccounts of the name "nightly"; expected one' in refused.stderr


@on_sqlite
def test_a_member_that_cannot_be_changed_is_refused(desk: Desk) -> None:
    text = '[[clients]]\nname = "App"\npublic = true\nredirectUris = ["com.example.app:/callback"]\n'
    desk.apply(text)
    refused = desk.run(text.replace("true", "false"))
    assert "clients.1.public: cannot be changed; delete it first" in refused.stderr
