"""The command line creates, lists, changes and deletes clients."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from strongroom.testing.server import LiveServer, ServerFailed, live_server

URI = "https://wiki.example.com/callback"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with live_server(tmp_path_factory.mktemp("server"), plugins=["oidc_provider"]) as server:
        yield server


def create(server: LiveServer, *options: str) -> dict[str, str]:
    """Create a client, and return its id and its secret by their names."""
    lines = server.command("clients", "create", "Wiki", *options).strip().splitlines()
    return {name.strip(): value for name, _, value in (line.rpartition(" ") for line in lines)}


def test_a_client_is_created_listed_and_deleted(server: LiveServer) -> None:
    end = "https://wiki.example.com/goodbye"
    logouts = "https://wiki.example.com/oidc?logout=backchannel"
    uris = ("--redirect-uri", URI, "--post-logout-redirect-uri", end)
    options = ("--backchannel-logout-uri", logouts, "--scope", "openid")
    created = create(server, *uris, *options)
    assert len(created["client secret"]) >= 43
    public = create(server, "--redirect-uri", "com.example.app:/callback", "--public")
    assert public.keys() == {"client id"}
    listed = server.command("clients", "list")
    assert created["client id"] in listed
    assert created["client secret"] not in listed
    path = f"/api/v1/clients/{created['client id']}"
    client = server.succeed("GET", path, by=server.user(admin=True))
    assert (client["scopes"], client["postLogoutRedirectUris"]) == (["openid"], [end])
    assert client["backchannelLogoutUri"] == logouts
    server.command("clients", "delete", created["client id"])
    assert created["client id"] not in server.command("clients", "list")


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (("--redirect-uri", "http://wiki.example.com/"), "redirectUris.0: Must be an https URL"),
        (("--redirect-uri", URI, "--scope", "a b"), "Must be a scope"),
    ],
)
def test_the_fault_of_an_option_is_printed(
    server: LiveServer, options: tuple[str, ...], fault: str
) -> None:
    with pytest.raises(ServerFailed, match=fault):
        create(server, *options)


def test_a_file_replaces_the_claims_of_a_client(server: LiveServer, tmp_path: Path) -> None:
    client_id = create(server, "--redirect-uri", URI)["client id"]
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps([{"name": "roles", "source": "server-role"}]))
    server.command("clients", "claims", client_id, str(rules))
    client = server.succeed("GET", f"/api/v1/clients/{client_id}", by=server.user(admin=True))
    assert [rule["name"] for rule in client["claims"]] == ["roles"]
    for content, fault in (
        ("[", "RULES: "),
        ('[{"name": "sub", "source": "server-role"}]', "none of a protocol"),
    ):
        rules.write_text(content)
        with pytest.raises(ServerFailed, match=fault):
            server.command("clients", "claims", client_id, str(rules))
