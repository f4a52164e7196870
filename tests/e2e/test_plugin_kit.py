"""``strongroom plugins new``: from an empty folder to a plugin that works, with nothing fetched."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from strongroom.foundation.plugins.kinds import KINDS, Kind
from strongroom.testing.server import free_port
from tests.support.client import Client
from tests.support.commands import run_command
from tests.support.config import change_config
from tests.support.environment import Environment
from tests.support.server import serving
from tests.support.stores import stored_files

pytestmark = pytest.mark.extended


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


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, environment: Environment) -> tuple[Path, Path]:
    """The folder of a new project of each kind, and the folder into which their wheels are installed."""
    projects, target = tmp_path_factory.mktemp("projects"), tmp_path_factory.mktemp("installed")
    for kind in KINDS:
        made = run_command("plugins", "new", kind.name, "tape", cwd=projects)
        assert made.returncode == 0, made.stderr
        translations = projects.joinpath(
            f"strongroom-{kind.name}-tape", "src", f"strongroom_{kind.name}_tape", "translations"
        )
        translations.mkdir()
        (translations / "zh.toml").write_text('"No tape." = "没有磁带。"\n')
    install = ["pip", "install", "--no-build-isolation", "--no-deps", "--target", str(target)]
    environment.succeed([*install, *map(str, sorted(projects.iterdir()))], projects)
    return projects, target


def files_of(folder: Path) -> set[str]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {str(path) for path in found if "__pycache__" not in path.parts}


# The pages of docs/tutorials begin with such a plugin of each kind: tests/docs/test_pages.py checks its
# types and its contract.
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_wheel_of_a_new_plugin_is_whole_and_its_example_a_configuration(
    kind: Kind, tmp_path: Path, installed: tuple[Path, Path]
) -> None:
    projects, target = installed
    project, package = projects / f"strongroom-{kind.name}-tape", f"strongroom_{kind.name}_tape"
    assert files_of(target / package) == files_of(project / "src" / package)
    readme = (project / "README.md").read_text()
    example = readme.partition("```toml\n")[2].partition("```")[0]
    (tmp_path / "accounts").touch()
    config = tmp_path / "strongroom.toml"
    example = example.replace("/etc/strongroom/accounts", str(tmp_path / "accounts"))
    # A store outlives the test and belongs to the database that used it first.
    config.write_text(example.replace("/srv/files", str(tmp_path / "files")))
    found = {"PYTHONPATH": str(target)}
    checked = run_command("config", "check", "--config", str(config), env=found, cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr


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
