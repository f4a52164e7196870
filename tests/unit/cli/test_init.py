"""``strongroom init``: which files it writes, their modes, and what it refuses."""

import re
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from strongroom.cli.init import init
from strongroom.extensions.production_checks.checks import is_sample_secret


def run(*arguments: object) -> Result:
    return CliRunner().invoke(init, [str(argument) for argument in arguments])


@pytest.mark.parametrize("kind", ["local", "small", "cluster"])
def test_only_the_owner_reads_secrets(tmp_path: Path, kind: str) -> None:
    assert run(kind, tmp_path / "etc").exit_code == 0
    private = [path for path in (tmp_path / "etc").rglob("*") if path.parent.name in {"secrets", "keys"}]
    assert len(private) == {"local": 0, "small": 2, "cluster": 6}[kind]
    assert {path.stat().st_mode & 0o777 for path in private} <= {0o600}
    assert {path.parent.stat().st_mode & 0o777 for path in private} <= {0o700}


def test_each_run_has_another_secret_key(tmp_path: Path) -> None:
    keys = []
    for name in ("a", "b"):
        run("small", tmp_path / name)
        keys.append((tmp_path / name / "secrets/secret_key").read_text())
    assert keys[0] != keys[1]
    assert len(keys[0]) == 64
    assert not is_sample_secret(keys[0])


@pytest.mark.parametrize("existing", ["strongroom.toml", "secrets/secret_key", "keys/signing-keys.json"])
def test_an_existing_file_is_never_replaced(tmp_path: Path, existing: str) -> None:
    path = tmp_path / existing
    path.parent.mkdir(exist_ok=True)
    path.write_text("precious")
    result = run("small", tmp_path)
    assert result.exit_code == 1
    assert result.output == f"Error: {tmp_path} has {existing} already; nothing was written\n"
    assert [found for found in tmp_path.rglob("*") if found.is_file()] == [path]
    assert path.read_text() == "precious"


@pytest.mark.parametrize("kind", ["small", "cluster"])
def test_no_file_needs_a_secret_that_is_missing(tmp_path: Path, kind: str) -> None:
    run(kind, tmp_path)
    texts = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    needed = {name for text in texts for name in re.findall(r"(?:/secrets/|%d/)(\w+)", text)}
    assert needed == {path.name for path in (tmp_path / "secrets").iterdir()}


def test_texts_have_the_domain_the_folder_and_the_program(tmp_path: Path) -> None:
    program = tmp_path / "bin/strongroom"
    result = run("small", tmp_path / "new", "--domain", "box.example.org", "--program", program)
    texts = [path.read_text() for path in (tmp_path / "new").rglob("*") if path.is_file()]
    for text in (*texts, result.stdout):
        assert "files.example.com" not in text
        assert "/etc/strongroom" not in text
        assert "/opt/strongroom" not in text
    configuration = tomllib.loads((tmp_path / "new/strongroom.toml").read_text())
    assert configuration["server"]["public_url"] == "https://box.example.org"


@pytest.mark.parametrize(
    "arguments",
    [("small", "{}/a b"), ("small", "{}", "--domain", "a.com;"), ("local", '{}/"'), ("large", "{}")],
)
def test_texts_that_need_quotes_are_refused(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    result = run(*(argument.format(tmp_path) for argument in arguments))
    assert result.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = run("small", tmp_path / "file/etc")
    assert result.exit_code == 1
    assert result.output.startswith(f"Error: {tmp_path}/file/etc")
    assert "cannot be written: Not a directory" in result.output
