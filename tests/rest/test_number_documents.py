"""The one-file plugin examples/plugins.d/number_documents.py: numbers stay with their documents."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.api import Api, Person
from tests.support.config import base_config, change_config, write_toml

from strongroom.testing.clock import HOUR, ManualClock

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugins.d" / "number_documents.py"


class Office:
    """A folder whose documents are numbered."""

    def __init__(self, api: Api, tenant: str, person: Person, folder: str) -> None:
        self.api, self.tenant, self.person, self.folder = api, tenant, person, folder
        self.jobs = api.container.job_runner(api.container.jobs())
        self.jobs.register()

    def upload(self, name: str) -> str:
        node: str = self.api.upload(self.tenant, self.person, name, b"x", self.folder)["id"]
        return node

    def names(self) -> list[str]:
        self.api.clock.advance(HOUR)
        self.jobs.run_due()
        succeeded = self.api.container.job_leases.states()["number_documents.number"].succeeded_at
        assert succeeded == self.api.clock.now()
        self.person.token = self.api.log_in(self.person.email).headers["X-Access-Token"]
        path = f"{self.tenant}/owners/me/files/{self.folder}/files"
        return [node["name"] for node in self.api.get(path, by=self.person).json["data"]]


@pytest.fixture
def office(database_url: str, tmp_path: Path) -> Iterator[Office]:
    config = write_toml(tmp_path / "strongroom.toml", base_config(tmp_path, database_url))
    clock = ManualClock()
    with Api.running(config, clock) as api:
        person = api.person()
        tenant = api.tenant(person)
        folder = api.folder(tenant, person, "Documents")["id"]
    options = {"user_id": person.id, "tenant_id": tenant.rpartition("/")[2]}
    # A folder of its own, because the server loads each plugin of the folder.
    (plugins := tmp_path / "plugins.d").mkdir()
    shutil.copy(EXAMPLE, plugins)
    change_config(config, {"plugins": {"folder": str(plugins), "number_documents": options}})
    with Api.running(config, clock) as api:
        yield Office(api, tenant, person, folder)


def test_a_number_stays_with_its_document(office: Office) -> None:
    first, second = office.upload("a.txt"), office.upload("b.txt")
    assert office.names() == ["0001 a.txt", "0002 b.txt"]
    api, person, files = office.api, office.person, f"{office.tenant}/files"
    assert api.patch(f"{files}/{second}", {"name": "renamed.txt"}, by=person).status_code == 200
    assert api.put(f"{files}/{first}/directory", {"parentId": None}, by=person).status_code == 200
    assert office.names() == ["0002 renamed.txt"]
    body = {"parentId": office.folder, "name": "copy.txt"}
    assert api.post(f"{files}/{second}/copies", body, by=person).status_code == 201
    assert api.delete(f"{files}/{second}", by=person).status_code == 200
    assert office.names() == ["0003 copy.txt"]
    assert (
        api.put(f"{files}/{first}/directory", {"parentId": office.folder}, by=person).status_code == 200
    )
    assert office.names() == ["0001 a.txt", "0003 copy.txt"]
