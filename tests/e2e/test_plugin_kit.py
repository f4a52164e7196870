"""``strongroom plugins new``: from an empty folder to a plugin that works, with nothing fetched."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from strongroom.plugins.seams import KINDS, Kind, main_seam
from strongroom.testing.server import free_port
from tests.e2e.client import Client
from tests.support.config import change_config
from tests.support.environment import Environment
from tests.support.server import serving
from tests.support.stores import stored_files

TOOLS = Path(sys.executable).parent


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment.create(tmp_path_factory.mktemp("environment") / ".venv")


def test_from_an_empty_folder_a_file_goes_through_a_new_storage_within_nine_commands(
    tmp_path: Path, environment: Environment
) -> None:
    commands = [
        ["strongroom", "plugins", "new", "storage", "drawer"],
        ["pip", "install", "--no-build-isolation", "-e", "strongroom-storage-drawer"],
        ["pytest", "-q", "strongroom-storage-drawer"],
    ]
    *_, tested = [environment.succeed(command, tmp_path) for command in commands]
    assert "passed" in tested
    assert "failed" not in tested
    # The fourth command serves the configuration that came with the plugin.
    with serve(tmp_path / "strongroom-storage-drawer", environment) as (url, folder):
        create = ("users", "create", "--email", "alice@example.com", "--password-stdin")
        config = ("--config", folder / "strongroom.toml")
        environment.succeed(["strongroom", *config, *create], folder, "Correct1Horse")
        # The last four are requests.
        client = Client.logged_in(url, "alice@example.com")
        tenant = client.make_tenant("Acme")
        node = client.upload(tenant, "note.txt", b"Kept in a drawer.")
        assert client.download(tenant, node["id"]) == b"Kept in a drawer."
        (kept,) = stored_files(folder / "data" / "drawer")
        assert kept.read_bytes() == b"Kept in a drawer."


@contextlib.contextmanager
def serve(project: Path, environment: Environment) -> Iterator[tuple[str, Path]]:
    """Serve the configuration that came with a plugin, from its folder."""
    config = project / "strongroom.toml"
    change_config(config, {"server": {"port": free_port()}})
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.variables.items():
            patch.setenv(name, value)
        patch.chdir(project)
        with serving(config, program=environment.binaries / "strongroom") as server:
            yield server.url, project


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_new_plugin_is_typed_installs_offline_and_passes_its_contract(
    kind: Kind, tmp_path: Path, environment: Environment
) -> None:
    environment.succeed(["strongroom", "plugins", "new", kind.name, "tape"], tmp_path)
    (project,) = tmp_path.iterdir()
    # What mypy has learnt of the libraries serves all of them.
    environment.succeed([TOOLS / "mypy", "--cache-dir", environment.folder / "mypy"], project)
    environment.succeed(["pip", "install", "--no-build-isolation", "."], project)
    checked = environment.succeed(["strongroom", "plugins", "check", f"{kind.name}_tape"], tmp_path)
    assert checked.splitlines()[0] == f"{kind.name}_tape 0.1.0 fits this server"
    title = f"{kind.name} tape" if kind.base else main_seam(kind).hook
    assert f"\n{title}: {main_seam(kind).contract_name} " in checked
    assert " failed" not in checked
    readme = (project / "README.md").read_text()
    example = readme.partition("```toml\n")[2].partition("```")[0]
    (tmp_path / "accounts").touch()
    config = tmp_path / "strongroom.toml"
    example = example.replace("/etc/strongroom/accounts", str(tmp_path / "accounts"))
    # A store outlives the test and belongs to the database that used it first.
    config.write_text(example.replace("/srv/files", str(tmp_path / "files")))
    environment.succeed(["strongroom", "config", "check", "--config", config], tmp_path)


def test_a_plugin_that_breaks_its_contract_does_not_pass_the_check(
    tmp_path: Path, environment: Environment
) -> None:
    environment.succeed(["strongroom", "plugins", "new", "captcha", "broken"], tmp_path)
    (project,) = tmp_path.iterdir()
    provider = project / "src" / "strongroom_captcha_broken" / "provider.py"
    provider.write_text(provider.read_text().replace("return hmac.", "return True or hmac."))
    environment.succeed(["pip", "install", "--no-build-isolation", "."], project)
    result = environment.run("strongroom", "plugins", "check", "captcha_broken", cwd=tmp_path)
    assert result.returncode == 1
    assert "test_anything_else_is_wrong_and_breaks_nothing" in result.stdout
    assert result.stderr.splitlines()[-1] == "Error: captcha broken breaks its contract"


def test_a_plugin_without_contract_tests_does_not_pass_the_check(
    tmp_path: Path, environment: Environment
) -> None:
    environment.succeed(["strongroom", "plugins", "new", "captcha", "untested"], tmp_path)
    (project,) = tmp_path.iterdir()
    (project / "tests" / "test_contract.py").unlink()
    environment.succeed(["pip", "install", "--no-build-isolation", "."], project)
    result = environment.run("strongroom", "plugins", "check", "captcha_untested", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == (
        "Error: captcha untested: no test class derives from CaptchaProviderContract"
    )


def test_tests_find_a_helper_next_to_them_and_one_that_hangs_fails_in_time(
    tmp_path: Path, environment: Environment
) -> None:
    environment.succeed(["strongroom", "plugins", "new", "captcha", "hanging"], tmp_path)
    (project,) = tmp_path.iterdir()
    (project / "tests" / "helper.py").write_text("from threading import Event\n\nNEVER = Event()\n")
    (project / "tests" / "test_hang.py").write_text(
        "from concurrent.futures import ThreadPoolExecutor\n\nfrom helper import NEVER\n\n\n"
        "def test_a_thread_that_never_ends():\n"
        "    with ThreadPoolExecutor(1) as pool:\n"
        "        pool.submit(NEVER.wait).result()\n"
    )
    environment.succeed(["pip", "install", "--no-build-isolation", "-e", "."], project)
    command = ["strongroom", "plugins", "check", "captcha_hanging", "--timeout", "1"]
    result = environment.run(*command, cwd=tmp_path)
    assert result.returncode == 1
    assert "test_hang.py::test_a_thread_that_never_ends FAILED" in result.stdout
    assert "Failed: took longer than 1 s; see --timeout" in result.stdout
    assert result.stderr.splitlines()[-1] == "Error: its tests failed (pytest: 1)"
