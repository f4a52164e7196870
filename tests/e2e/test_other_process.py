"""Changes made at one server process apply to the next request at another."""

from collections.abc import Iterator
from itertools import count

import pytest

from tests.support.client import Client
from tests.support.server import Server, serving_nodes
from tests.support.waiting import wait_until


@pytest.fixture(scope="module")
def servers(
    tmp_path_factory: pytest.TempPathFactory, shared_database_url: str
) -> Iterator[tuple[Server, Server]]:
    """Two server processes with the same database, keys and files."""
    with serving_nodes(tmp_path_factory.mktemp("servers"), shared_database_url) as (one, other):
        one.create_user("alice@example.com")
        one.create_user("root@example.com", "Correct1Horse", "--admin")
        yield one, other


_numbers = count()


class Scene:
    """A file that Bob may read, changed at one server process and read at another."""

    def __init__(self, servers: tuple[Server, Server]) -> None:
        changing, self.other = servers
        self.alice = Client.logged_in(changing.url, "alice@example.com")
        self.root = Client.logged_in(changing.url, "root@example.com")
        bob = f"bob{next(_numbers)}@example.com"
        changing.create_user(bob)
        self.bob = Client.logged_in(changing.url, bob)
        self.bob_id = self.bob.expect(200, "GET", "/users/me").json()["id"]
        self.tenant = self.alice.make_tenant("Acme")
        member = f"{self.tenant}/members/{self.bob_id}"
        self.alice.expect(200, "PUT", member, {"role": "member"})
        self.file = f"{self.tenant}/files/{self.alice.upload(self.tenant, 'a.txt', b'before')['id']}"
        self.grant()

    def grant(self, **more: str) -> None:
        body = {"ownerId": self.bob_id, "permission": "read", **more}
        self.alice.expect(201, "POST", f"{self.file}/owners", body)

    def statuses(self) -> set[int]:
        """Return the statuses of the details, the content and the list, as Bob reads them."""
        bob = Client(self.other.url, self.bob.token)
        top = f"{self.tenant}/owners/me/files"
        return {bob.request("GET", path).status for path in (self.file, f"{self.file}/download", top)}


@pytest.fixture
def scene(servers: tuple[Server, Server]) -> Scene:
    scene = Scene(servers)
    assert scene.statuses() == {200}
    return scene


def test_a_revoked_token_is_refused(scene: Scene) -> None:
    scene.bob.expect(200, "DELETE", "/authorizations/current")
    assert scene.statuses() == {401}


def test_a_suspended_user_is_refused(scene: Scene) -> None:
    scene.root.expect(200, "POST", f"/users/{scene.bob_id}/suspension")
    assert scene.statuses() == {401}


def test_a_token_of_a_removed_key_is_refused(scene: Scene) -> None:
    (keys,) = (scene.other.config.parent / "data").glob("*keys*.json")
    keys.unlink()
    scene.other.command("keys", "rotate")
    # A process reads the key file at most once a second for tokens that it knows.
    wait_until(lambda: scene.statuses() == {401})


def test_a_revoked_grant_ends_access(scene: Scene) -> None:
    scene.alice.expect(200, "DELETE", f"{scene.file}/owners/{scene.bob_id}")
    assert scene.statuses() == {403, 200}
    assert Client(scene.other.url, scene.bob.token).files(scene.tenant) == []


def test_the_end_of_a_membership_ends_access(scene: Scene) -> None:
    scene.alice.expect(200, "DELETE", f"{scene.tenant}/members/{scene.bob_id}")
    assert scene.statuses() == {403}


def test_replaced_content_is_sent_at_once(scene: Scene) -> None:
    bob = Client(scene.other.url, scene.bob.token)
    for content in (b"after", b"and after that"):
        assert scene.alice.request("PUT", f"{scene.file}/content", content).status == 200
        assert bob.request("GET", f"{scene.file}/download").content == content
        assert bob.expect(200, "GET", scene.file).json()["size"] == len(content)


def test_a_deleted_file_is_not_found(scene: Scene) -> None:
    scene.alice.expect(200, "DELETE", scene.file)
    assert scene.statuses() == {404, 200}
