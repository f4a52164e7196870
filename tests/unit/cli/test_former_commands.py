"""Former names of commands: hidden, but they work and print a notice."""

from click.testing import CliRunner

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
