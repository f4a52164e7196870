"""``strongroom users create`` refuses invalid input before it prompts for a password."""

from pathlib import Path

import pytest

from tests.support.commands import run_command
from tests.support.config import change_config
from tests.support.databases import on_sqlite

pytestmark = on_sqlite


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--email", "x"), "Must be an e-mail address"),
        (("--email", "taken@example.com"), "already belongs to a user"),
        ((), "At least one of"),
    ],
)
def test_a_name_is_refused_before_the_password_prompt(
    server_config: Path, arguments: tuple[str, ...], said: str
) -> None:
    create = ("--config", str(server_config), "users", "create")
    made = run_command(
        *create, "--email", "taken@example.com", "--password-stdin", stdin="Correct1Horse"
    )
    assert made.returncode == 0, made.stderr
    refused = run_command(*create, *arguments, stdin="Correct1Horse\nCorrect1Horse\n")
    assert refused.returncode == 1
    assert said in refused.stderr
    assert "Password" not in refused.stdout + refused.stderr


def test_a_broken_configuration_is_refused_before_the_password_prompt(server_config: Path) -> None:
    change_config(server_config, {"server": {"port": True}})
    create = ("--config", str(server_config), "users", "create", "--email", "a@example.com")
    refused = run_command(*create, stdin="Correct1Horse\nCorrect1Horse\n")
    assert refused.returncode != 0
    assert "Password" not in refused.stdout + refused.stderr
