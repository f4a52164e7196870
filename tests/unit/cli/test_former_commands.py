"""Former names of commands: hidden, but they work and print a notice."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.source_tree import ROOT

from strongroom.cli.main import root


def test_housekeeping_runs_prune_and_prints_a_notice() -> None:
    former, current = (CliRunner().invoke(root, [name, "--help"]) for name in ("housekeeping", "prune"))
    assert former.exit_code == current.exit_code == 0
    assert former.stdout.split("\n", 1)[1] == current.stdout.split("\n", 1)[1]
    assert former.stderr == "strongroom: warning: the command housekeeping is deprecated: use prune\n"
    assert not current.stderr


def test_former_names_are_not_listed() -> None:
    listed = CliRunner().invoke(root, ["--help"]).stdout
    assert "prune" in listed
    assert "housekeeping" not in listed


RESCUE = [
    ("audit verify-export", "rescue verify-export"),
    ("keys adopt-secret", "rescue adopt-secret"),
    ("keys export-tenant-key", "rescue export-tenant-key"),
    ("storage claim", "rescue claim-storage"),
]


@pytest.mark.parametrize(("former", "current"), RESCUE)
def test_a_command_of_rescue_is_hidden_under_its_former_name(former: str, current: str) -> None:
    (old_group, old), (group, name) = former.split(), current.split()
    listed = [CliRunner().invoke(root, [part, "--help"]).stdout for part in (old_group, group)]
    assert f"  {old} " not in listed[0]
    assert f"  {name} " in listed[1]
    texts = [CliRunner().invoke(root, [*path.split(), "--help"]).stdout for path in (former, current)]
    assert texts[0].partition("\n\n")[2] == texts[1].partition("\n\n")[2] != ""


def test_a_former_name_of_rescue_runs_the_command_and_prints_a_notice(tmp_path: Path) -> None:
    export, keys = tmp_path / "audit.jsonl", tmp_path / "jwks.json"
    export.write_text("")
    keys.write_text('{"keys": []}')
    results = [
        CliRunner().invoke(root, [group, "verify-export", str(export), "--jwks", str(keys)])
        for group in ("audit", "rescue")
    ]
    notice = "the command audit verify-export is deprecated: use rescue verify-export"
    assert [result.exit_code for result in results] == [1, 1]
    assert results[1].stderr.startswith(f"Error: {export}: ")
    assert results[0].stderr == f"strongroom: warning: {notice}\n{results[1].stderr}"


@pytest.mark.parametrize(("former", "current"), RESCUE)
def test_a_former_command_is_in_the_notes_for_operators(former: str, current: str) -> None:
    notes = (ROOT / "docs/operate/releases.md").read_text()
    assert f"| `{former}` | `{current}` |" in notes
