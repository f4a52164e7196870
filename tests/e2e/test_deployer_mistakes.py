"""What Strongroom answers to the most probable mistakes of a deployer, with real servers."""

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tomllib import TOMLDecodeError, loads

import pytest

from strongroom.cli.startup import require_offline
from strongroom.cli.trial import unavailable_services
from strongroom.foundation.config import ConfigurationError, load
from strongroom.foundation.database.upgrade import SCHEMA_REVISION
from strongroom.identity.sessions.signing_keys import create_key_file
from strongroom.testing.server import free_port
from tests.support.answer_scores import score
from tests.support.commands import run_command
from tests.support.config import Table, change_config, write_toml
from tests.support.databases import SqliteDatabases
from tests.support.deployer_mistakes import DOCTOR, MISTAKES, Mistake
from tests.support.production import production
from tests.support.redis import RedisServer
from tests.support.replicas import Pair
from tests.support.stores import s3_store

MIN_CASES = 54
MIN_MEAN = 2.8
PAGE = Path(__file__).parents[2] / "docs/operate/wrong-configurations.md"


@dataclass
class Deployment:
    """A right configuration of production, and what the placeholders of the table stand for."""

    config: Path
    tables: Table
    places: Mapping[str, str]

    def answer(self, written: str) -> tuple[int, str]:
        """Return the exit status and the answer of ``config check`` to a mistake."""
        environment = self.write(written)
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            status, answer = _check(self.config, environment)
        for name in sorted(self.places, key=lambda name: -len(self.places[name])):
            answer = answer.replace(self.places[name], name)
        return status, answer

    def write(self, written: str) -> dict[str, str]:
        """Write the configuration with a mistake, and return the variables of the mistake."""
        for name, value in self.places.items():
            written = written.replace(name, value)
        self.config.touch(0o600)
        write_toml(self.config, self.tables)
        if written.startswith("STRONGROOM_"):
            name, _, value = written.partition("=")
            return {name: value}
        if written.startswith("without "):
            section, _, key = written.removeprefix("without ").partition(".")
            change_config(self.config, {section: {key: None}})
        elif written.startswith("no "):
            self.config.unlink()
        else:
            self._add(written)
        return {}

    def _add(self, written: str) -> None:
        try:
            change_config(self.config, loads(written))
        except TOMLDecodeError:
            self.config.write_text(f"{written}\n{self.config.read_text()}")


def _check(config: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Do as ``strongroom config check``, in this process."""
    try:
        configuration = load(config, environment)
        require_offline(configuration)
        problems = unavailable_services(configuration)
    except ConfigurationError as error:
        return (3 if error.is_temporary else 2), str(error)
    return (3 if problems else 0), "\n".join(map(str, problems))


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    folder = tmp_path_factory.mktemp("deployment")
    with ExitStack() as stack:
        tables = production(folder)
        tables["server"]["port"] = free_port()
        tables["database"]["url"] = stack.enter_context(SqliteDatabases(folder).create())
        del tables["redis"]
        config = folder / "strongroom.toml"
        _write_files(folder)
        yield Deployment(config, tables, {"DIR": str(folder), **_servers(stack, folder)})


def _write_files(folder: Path) -> None:
    create_key_file(folder / "keys.json", "HS256", 0)
    for name, text in (("empty", ""), ("short-key.json", '{"keys": {"00": "AAAA"}, "current": "00"}')):
        (folder / name).touch(0o600)
        (folder / name).write_text(text)


def _servers(stack: ExitStack, folder: Path) -> dict[str, str]:
    """Start the servers that mistakes need, and return their addresses."""
    taken = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    redis = stack.enter_context(RedisServer.serving(folder))
    pair = stack.enter_context(Pair.serving())
    database = pair.create("strongroom")
    endpoint = stack.enter_context(s3_store()).endpoint
    with pytest.MonkeyPatch.context() as patch:
        # The first request, which creates the bucket, needs no login.
        patch.setenv("INITIAL_NO_AUTH_ACTION_COUNT", "1")
        guarded = stack.enter_context(s3_store()).endpoint
    return {
        "TAKEN": str(taken.getsockname()[1]),
        "REDIS": redis.url.removeprefix("redis://"),
        "STRANGER": database.replace("postgres:@", "stranger:hush@"),
        "NODATABASE": database.replace("/strongroom?", "/strongrooms?"),
        "STANDBY": pair.standby_url(database),
        "POSTGRES": database,
        "SOCKETS": pair.socket_folder,
        "ENDPOINT": endpoint,
        "GUARDED": guarded,
        "REVISION": SCHEMA_REVISION,
    }


def test_nothing_is_wrong_to_begin_with(deployment: Deployment) -> None:
    assert deployment.answer("server.workers = 2") == (0, "")


def test_each_mistake_has_its_answer_and_the_answers_score_at_least_2_8_of_3(
    deployment: Deployment,
) -> None:
    scores = []
    for mistake in MISTAKES:
        status, answer = deployment.answer(mistake.written)
        origin, _, line = answer.partition(": ")
        assert (mistake.title, status, line) == (mistake.title, mistake.status, mistake.answer)
        assert origin.startswith(("DIR/strongroom.toml", "environment STRONGROOM_", "keys")), origin
        assert "hush" not in answer
        scores.append(score(answer))
    scores += [score(f"{mistake.answer}") for mistake in DOCTOR]
    assert len(scores) >= MIN_CASES
    assert sum(scores) / len(scores) >= MIN_MEAN, scores


def test_the_doctor_finds_the_mistakes_that_do_not_prevent_a_start(deployment: Deployment) -> None:
    for mistake in DOCTOR:
        assert deployment.answer(mistake.written) == (0, ""), mistake.title
    assert {mistake.answer for mistake in DOCTOR} <= set(findings(deployment))


def findings(deployment: Deployment) -> list[str]:
    """Return the lines of the doctor, for a configuration with all mistakes that it finds."""
    changes = [loads(mistake.written) for mistake in DOCTOR]
    write_toml(deployment.config, deployment.tables, *changes)
    arguments = ("--config", str(deployment.config), "--json", "--send-to", "admin@acme.org")
    result = run_command("doctor", *arguments)
    assert result.returncode == 1, result.stderr
    items = json.loads(result.stdout)
    return [f"{item['part']}: {item['message']}; {item['remedy']}" for item in items]


def test_the_page_has_each_mistake_with_its_answer() -> None:
    text = PAGE.read_text()
    for mistake in (*MISTAKES, *DOCTOR):
        assert row(mistake) in text


def row(mistake: Mistake) -> str:
    """Return the row of the documentation's table."""
    written = mistake.written.splitlines()[-1].replace("|", "\\|")
    answer = mistake.answer.replace("|", "\\|")
    return f"| {mistake.title} | `{written}` | `{answer}` | {mistake.status} |\n"
