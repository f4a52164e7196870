"""The one-file plugin examples/plugins.d/prune_drafts.py: its job deletes old drafts, as a user."""

import shutil
from pathlib import Path

from tests.support.api import Api, Person
from tests.support.config import base_config, change_config, write_toml

from strongroom.testing.clock import HOUR, ManualClock

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugins.d" / "prune_drafts.py"
DAY = 24 * HOUR


def test_old_drafts_are_deleted_once_by_the_configured_user(database_url: str, tmp_path: Path) -> None:
    config = write_toml(tmp_path / "strongroom.toml", base_config(tmp_path, database_url))
    clock = ManualClock()
    with Api.running(config, clock) as api:
        person = api.person()
        tenant = api.tenant(person)
        drafts = api.folder(tenant, person, "Drafts")["id"]
        inner = api.folder(tenant, person, "Inner", drafts)["id"]
        for name, parent in (("old.txt", drafts), ("kept.txt", inner), ("top.txt", None)):
            api.upload(tenant, person, name, b"x", parent)
        clock.advance(20 * DAY)
        person.token = api.log_in(person.email).headers["X-Access-Token"]
        api.upload(tenant, person, "new.txt", b"x", drafts)
    options = {"user_id": person.id, "tenant_id": tenant.rpartition("/")[2]}
    # A folder of its own, because the server loads each plugin of the folder.
    (folder := tmp_path / "plugins.d").mkdir()
    shutil.copy(EXAMPLE, folder)
    change_config(config, {"plugins": {"folder": str(folder), "prune_drafts": options}})
    with Api.running(config, clock) as api:
        jobs = api.container.job_runner(api.container.jobs())
        jobs.register()
        clock.advance(11 * DAY)
        jobs.run_due()
        assert api.container.job_leases.states()["prune_drafts.prune"].succeeded_at == clock.now()
        person.token = api.log_in(person.email).headers["X-Access-Token"]
        assert names(api, f"{tenant}/owners/me/files/{drafts}/files", person) == {"Inner", "new.txt"}
        assert names(api, f"{tenant}/owners/me/files/{inner}/files", person) == {"kept.txt"}
        assert names(api, f"{tenant}/owners/me/files", person) == {"Drafts", "top.txt"}


def names(api: Api, path: str, person: Person) -> set[str]:
    return {node["name"] for node in api.get(path, by=person).json["data"]}
