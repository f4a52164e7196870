"""``strongroom users create`` refuses what cannot work before it asks for a password."""

from pathlib import Path

import pytest

from tests.support.commands import run_command
from tests.support.server import write_config


@pytest.fixture
def config(tmp_path: Path) -> str:
    return str(write_config(tmp_path, f"sqlite:///{tmp_path}/strongroom.sqlite3"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--email", "x"), "Must be an e-mail address"),
        (("--email", "taken@example.com"), "already belongs to a user"),
        ((), "At least one of"),
    ],
)
def test_a_name_is_refused_before_the_password_is_asked_for(
    config: str, arguments: tuple[str, ...], said: str
) -> None:
    run_command("--config", config, "db", "upgrade")
    create = ("--config", config, "users", "create")
    made = run_command(
        *create, "--email", "taken@example.com", "--password-stdin", stdin="Correct1Horse"
    )
    assert made.returncode == 0, made.stderr
    refused = run_command(*create, *arguments, stdin="Correct1Horse\nCorrect1Horse\n")
    assert refused.returncode == 1
    assert said in refused.stderr
    assert "Password" not in refused.stdout + refused.stderr


def test_a_broken_configuration_is_refused_before_the_password_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "strongroom.toml"
    path.write_text("[server]\nport = true\n")
    create = ("--config", str(path), "users", "create", "--email", "a@example.com")
    refused = run_command(*create, stdin="Correct1Horse\nCorrect1Horse\n")
    assert refused.returncode != 0
    assert "Password" not in refused.stdout + refused.stderr
