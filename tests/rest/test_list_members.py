"""The one-file plugin examples/plugins.d/list_members.py: a file has the members of a tenant."""

import shutil
from pathlib import Path

from tests.support.api import Api, Person
from tests.support.commands import run_command
from tests.support.config import base_config, change_config, write_toml

from strongroom.plugin_api.files import FileInfo
from strongroom.testing.clock import ManualClock

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugins.d" / "list_members.py"


def test_the_file_fits_the_server() -> None:
    checked = run_command("plugins", "check", str(EXAMPLE))
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "list_members file fits this server" in checked.stdout


def test_the_list_follows_the_members_and_keeps_its_former_contents(
    database_url: str, tmp_path: Path, clock: ManualClock
) -> None:
    config = write_toml(tmp_path / "strongroom.toml", base_config(tmp_path, database_url))
    with Api.running(config, clock) as api:
        owner, member = api.person(), api.person()
        tenant = api.tenant(owner)
        lists = api.folder(tenant, owner, "Lists")["id"]
        api.upload(tenant, owner, "members 2019.csv", b"old", lists)
        api.upload(tenant, owner, "notes.txt", b"x", lists)
    options = {"user_id": owner.id, "tenant_id": tenant.rpartition("/")[2]}
    (folder := tmp_path / "plugins.d").mkdir()
    shutil.copy(EXAMPLE, folder)
    change_config(config, {"plugins": {"folder": str(folder), "list_members": options}})
    with Api.running(config, clock) as api:
        first = written(api)
        assert names(api, tenant, owner, lists) == {"Archive", "members.csv", "notes.txt"}
        archive = folder_in(api, tenant, owner, lists)
        assert names(api, tenant, owner, archive) == {"members 2019.csv"}
        assert written(api) == first
        api.join(tenant, owner, member)
        second = written(api)
        assert (second.id, second.revision > first.revision) == (first.id, True)
        content = api.get(f"{tenant}/files/{first.id}/download", by=owner).text.splitlines()
        assert [line.split(",")[:2] for line in content] == [
            ["user", "role"],
            [owner.id, "admin"],
            [member.id, "member"],
        ]
        assert len(names(api, tenant, owner, archive)) == 2


def written(api: Api) -> FileInfo:
    """Run the job, and return the list."""
    jobs = api.container.job_runner(api.container.jobs())
    jobs.register()
    jobs.run_now("list_members.write")
    host = api.container.hosts.get("list_members")
    with host.acting_as(host.options.user_id):
        return host.files.resolve(host.options.tenant_id, ["Lists", "members.csv"])


def folder_in(api: Api, tenant: str, person: Person, parent: str) -> str:
    nodes = api.get(f"{tenant}/owners/me/files/{parent}/files", by=person).json["data"]
    return str(next(node["id"] for node in nodes if node["type"] == "folder"))


def names(api: Api, tenant: str, person: Person, folder: str) -> set[str]:
    path = f"{tenant}/owners/me/files/{folder}/files"
    return {node["name"] for node in api.get(path, by=person).json["data"]}
