"""What contributors meet first: the walk through a change, hooks of commits, workflows, templates."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from tests.support.environment import Environment
from tests.support.pages import follow
from tests.support.schemas import schema_faults
from tests.support.source_tree import ROOT, copy_tree, make_repository, run

from strongroom.testing.server import free_port

pytestmark = pytest.mark.extended

TOOLS = Path(sys.executable).parent
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
HOOKS = YAML(typ="safe").load(ROOT / ".pre-commit-config.yaml")["repos"][0]["hooks"]
DISTRIBUTION = {"lint-imports": "import-linter"}


@pytest.mark.parametrize("page", ["first-change", "add-a-feature"])
def test_the_walk_through_a_change_works(tmp_path: Path, page: str) -> None:
    tree = copy_tree(tmp_path / "strongroom")
    environment = Environment.create(tree / ".venv")
    environment.prefer(tree / "core/src")
    (environment.binaries / "towncrier").symlink_to(TOOLS / "towncrier")
    follow(ROOT / f"docs/contributing/{page}.md", tree, environment, free_port())


def test_hooks_of_commits_run_the_locked_tools() -> None:
    lock = (ROOT / "requirements-dev.lock").read_text()
    for hook in HOOKS:
        program = hook["entry"].split()[0]
        tool = program.removeprefix(".venv/bin/")
        assert (program, hook["language"]) == (f".venv/bin/{tool}", "unsupported")
        assert f"\n{DISTRIBUTION.get(tool, tool)}==" in lock


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a file that ruff refuses."""
    folder = tmp_path / "strongroom"
    folder.mkdir()
    for name in ("pyproject.toml", ".pre-commit-config.yaml"):
        shutil.copy(ROOT / name, folder)
    (folder / ".venv").symlink_to(TOOLS.parent)
    (folder / ".gitignore").write_text(".venv\n")
    (folder / "script.py").write_text('"""A script."""\n\nimport os\n')
    make_repository(folder)
    return folder


def test_hooks_refuse_and_accept_a_commit(repository: Path, tmp_path: Path) -> None:
    variables = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "cache")}
    command = [str(TOOLS / "pre-commit"), "run", "--all-files"]

    def check() -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command, cwd=repository, env=variables, capture_output=True, text=True, check=False
        )

    refused = check()
    assert refused.returncode == 1, refused.stdout + refused.stderr
    assert "`os` imported but unused" in refused.stdout
    (repository / "script.py").write_text('"""A script."""\n')
    accepted = check()
    assert accepted.returncode == 0, accepted.stdout + accepted.stderr


def test_editors_use_the_line_length_of_the_formatter() -> None:
    settings = (ROOT / ".editorconfig").read_text()
    (length,) = re.findall(r"^line-length = (\d+)$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert f"[*.py]\nmax_line_length = {length}\n" in settings


@pytest.mark.parametrize(
    ("schema", "pattern"),
    [
        ("github-workflows", "workflows/*.yml"),
        ("github-issue-forms", "ISSUE_TEMPLATE/[!c]*.yml"),
        ("github-issue-config", "ISSUE_TEMPLATE/config.yml"),
        ("dependabot", "dependabot.yml"),
    ],
)
def test_workflows_and_templates_follow_their_schemas(schema: str, pattern: str) -> None:
    paths = list(GITHUB.glob(pattern))
    assert paths
    assert [fault for path in paths for fault in schema_faults(schema, path)] == []


def test_a_workflow_that_violates_the_schema_is_found(tmp_path: Path) -> None:
    (tmp_path / "wrong.yml").write_text("on: push\njobs: {tests: {steps: 3}}\n")
    assert schema_faults("github-workflows", tmp_path / "wrong.yml")


def test_workflows_have_no_known_weakness() -> None:
    result = run(ROOT, TOOLS / "zizmor", "--offline", "--no-progress", GITHUB)
    assert result.returncode == 0, result.stdout


def test_actions_are_pinned_by_commit_and_say_their_version() -> None:
    for path in WORKFLOWS:
        for action in re.findall(r"uses: (.*)", path.read_text()):
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


def test_the_workflow_runs_the_tests_on_each_supported_python() -> None:
    tests = YAML(typ="safe").load(GITHUB / "workflows/tests.yml")["jobs"]["tests"]
    supported = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    assert tests["strategy"]["matrix"]["python"] == supported


def test_the_workflow_installs_the_programs_of_the_local_checks() -> None:
    local = re.findall(r"^need \S+ ([^#\n]+)", (ROOT / ".ci/run").read_text(), re.MULTILINE)
    assert local
    workflow = (GITHUB / "workflows/tests.yml").read_text()
    # On the runner, whose distribution has other packages of Chromium and Firefox.
    present = {"chromium", "chromium-headless-shell", "firefox-esr", "nodejs", "npm"}
    wanted = {name for names in local for name in names.split()} - present
    assert [name for name in sorted(wanted) if f" {name}" not in workflow] == []


def test_only_jobs_that_publish_may_write() -> None:
    for path in WORKFLOWS:
        workflow = YAML(typ="safe").load(path)
        assert workflow["permissions"] == {}
        for name, job in workflow["jobs"].items():
            writes = "write" in job["permissions"].values()
            assert not writes or path.name == "release.yml", name
            assert not writes or name == "build" or "environment" in job, name
