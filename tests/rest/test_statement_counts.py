"""How many statements frequent operations execute, from the service on."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.api import Api, Person
from tests.support.scanners import SCANNING, install_word_scanner
from tests.support.scene import Scene
from tests.support.statements import statements

from strongroom.content.files.access_explanation import AccessExplainer
from strongroom.content.files.grants import GrantService
from strongroom.content.files.listing import FileListing
from strongroom.content.files.moving import MovingService
from strongroom.content.files.service import FileService
from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.scanning.worker import ScanWorker
from strongroom.extensions.bundles.service import BundleService
from strongroom.extensions.uploads.service import UploadService
from strongroom.foundation.caller import Caller, Origin
from strongroom.foundation.database.paging import Paging
from strongroom.foundation.errors import TokenInvalid
from strongroom.identity.sessions.service import AuthorizationService
from strongroom.web.http.uploads import UploadedFile

pytestmark = pytest.mark.both_databases


def caller_of(api: Api, person: Person) -> Caller:
    identity = api.container.get(AuthorizationService).verify(person.token or "")
    return Caller(identity.user_id, identity.authorization_id)


@pytest.fixture
def api_on_sqlite(api: Api) -> Api:
    if api.container.database.engine.dialect.name != "sqlite":
        pytest.skip("PostgreSQL locks the tenant by a further statement")
    return api


@pytest.mark.parametrize("place", ["top level", "folder", "folder of an administrator"])
def test_a_small_upload_executes_nine(api_on_sqlite: Api, place: str) -> None:
    api = api_on_sqlite
    alice, bob = api.person(), api.person()
    path = api.tenant(alice)
    tenant = path.rpartition("/")[2]
    api.join(path, alice, bob)
    folder = api.folder(path, bob, "folder")["id"]
    caller = caller_of(api, alice if place.endswith("administrator") else bob)
    parent = None if place == "top level" else folder

    def upload(name: str) -> list[str]:
        with statements() as seen:
            incoming = UploadedFile(name, io.BytesIO(b"content"), 7)
            api.container.get(FileService).upload(caller, tenant, parent, incoming, OnConflict.FAIL)
        return seen

    # The first upload verifies that the database owns the storage.
    upload("first.txt")
    counts = [len(upload(f"{number}.txt")) for number in range(70)]
    assert min(counts) == 9, upload("more.txt")
    # Some of them reserve object keys for the next ones.
    assert max(counts) == 10
    assert sum(counts) <= 9 * len(counts) + 8
    assert caller.identity is not None


@pytest.mark.config(SCANNING)
class TestWithScanner:
    """Uploads that a scanner inspects."""

    @pytest.fixture(autouse=True)
    def words(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        install_word_scanner(tmp_path / "plugins", monkeypatch)

    @pytest.mark.parametrize("size", [7, 5000])
    def test_an_upload_executes_one_more(self, api_on_sqlite: Api, size: int) -> None:
        api = api_on_sqlite
        alice = api.person()
        tenant = api.tenant(alice).rpartition("/")[2]
        caller, services = caller_of(api, alice), api.container
        counts = []
        for number in range(20):
            incoming = UploadedFile(f"{number}.txt", io.BytesIO(bytes(size)), size)
            with statements() as seen:
                node = api.container.get(FileService).upload(
                    caller, tenant, None, incoming, OnConflict.FAIL
                )
            counts.append(len(seen))
        assert min(counts) == 10
        # The state is a column of the file, so reading it costs nothing.
        services.get(ScanWorker).run_due()
        with statements() as seen:
            services.get(FileService).locate(caller, tenant, node.node.id)
        assert len(seen) == 1


def test_details_and_lists_execute_few(api_on_sqlite: Api) -> None:
    api = api_on_sqlite
    alice, bob = api.person(), api.person()
    path = api.tenant(alice)
    tenant = path.rpartition("/")[2]
    api.join(path, alice, bob)
    folder = api.folder(path, bob, "folder")["id"]
    file = api.upload(path, bob, "a.txt", b"content", folder)["id"]
    caller, services = caller_of(api, bob), api.container
    with statements() as details:
        services.get(FileService).get(caller, tenant, file)
    with statements() as location:
        services.get(FileService).locate(caller, tenant, file)
    services.get(FileListing).inside(caller, tenant, bob.id, folder, Paging(1, 20))
    with statements() as inside:
        services.get(FileListing).inside(caller, tenant, bob.id, folder, Paging(1, 20))
    services.get(FileListing).top_level(caller, tenant, bob.id, Paging(1, 20))
    with statements() as top_level:
        services.get(FileListing).top_level(caller, tenant, bob.id, Paging(1, 20))
    counts = [len(seen) for seen in (details, location, inside, top_level)]
    # Lists read the access with the total, the page, and its owners; the top level counts its grants.
    assert counts == [1, 1, 3, 4]


def test_a_batch_executes_fewer_than_its_single_requests(api_on_sqlite: Api) -> None:
    scene = Scene(api_on_sqlite)
    folder = scene.folder("folder")
    counts = {}
    for operation, members in (("move", {"parentId": folder["id"]}), ("trash", {})):
        made = [scene.file(f"{operation} {number}") for number in range(20)]
        items = [{"operation": operation, "fileId": node["id"], **members} for node in made]
        with statements() as seen:
            answer = scene.api.post(f"{scene.path}/files-batches", {"items": items}, by=scene.admin)
        assert answer.status_code == 200
        # All events are written by one statement.
        assert sum("INSERT INTO file_events" in statement for statement in seen) == 1
        counts[operation] = len(seen)
    # A single move executes 12, a single deletion 11. The others are the login, the role, the events,
    # and the reads that all items share: the destination, and the tenant's holds, locks and settings.
    assert counts["move"] <= 20 * 7 + 8
    assert counts["trash"] <= 20 * 6 + 6


def test_each_operation_verifies_the_login(api: Api) -> None:
    alice = api.person()
    path = api.tenant(alice)
    tenant = path.rpartition("/")[2]
    folder = api.folder(path, alice, "folder")["id"]
    file = api.upload(path, alice, "a.txt", b"content", folder)["id"]
    caller, services = caller_of(api, alice), api.container
    paging = Paging(1, 20)
    operations: list[Callable[[], object]] = [
        lambda: services.get(FileService).get(caller, tenant, file),
        lambda: services.get(FileService).locate(caller, tenant, file),
        lambda: services.get(FileService).delete(caller, tenant, file),
        lambda: services.get(FileService).create_folder(caller, tenant, None, "other", OnConflict.FAIL),
        lambda: services.get(FileService).upload(
            caller, tenant, None, UploadedFile("b", io.BytesIO(b"b"), 1), OnConflict.FAIL
        ),
        lambda: services.get(FileListing).inside(caller, tenant, alice.id, folder, paging),
        lambda: services.get(FileListing).top_level(caller, tenant, alice.id, paging),
        lambda: services.get(FileListing).top_level(caller, tenant, "other", paging),
        lambda: services.get(BundleService).make(caller, tenant, [file], None),
        lambda: services.get(BundleService).get(caller, tenant, file),
        lambda: services.get(MovingService).rename(caller, tenant, file, "c", None),
        lambda: services.get(GrantService).page(caller, tenant, file, paging),
        lambda: services.get(GrantService).remove(caller, tenant, file, alice.id, Origin()),
        lambda: services.get(AccessExplainer).explain(caller, tenant, file, alice.id),
        lambda: services.get(UploadService).get(caller, tenant, file),
    ]
    assert api.delete("/authorizations/current", by=alice).status_code == 200
    for operation in operations:
        with pytest.raises(TokenInvalid):
            operation()
    assert caller.identity is None
