"""Each hook of the plugin API has a user, a contract, a template, and a page with its whole code."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest
from generator.seams import SEAMS, Seam

from strongroom.cli.plugins.new import write_plugin
from strongroom.foundation.plugins import hookspecs
from strongroom.foundation.plugins.kinds import KINDS

ROOT = Path(__file__).parents[2]
TUTORIALS = ROOT / "docs" / "tutorials"
SOURCES = [
    ROOT / "core" / "src",
    *ROOT.glob("plugins/*/src"),
    *ROOT.glob("examples/*/src"),
    ROOT / "examples" / "plugins.d",
]

HOOKS = [name for name, hook in vars(hookspecs).items() if hasattr(hook, "strongroom_spec")]
each_seam = pytest.mark.parametrize("seam", SEAMS, ids=lambda seam: seam.hook)
each_seam_of_a_kit = pytest.mark.parametrize(
    "seam", [seam for seam in SEAMS if seam.kind], ids=lambda seam: seam.hook
)


def functions(source: Path) -> set[str]:
    """Return the names of the functions of a module."""
    return {
        item.name for item in ast.parse(source.read_text()).body if isinstance(item, ast.FunctionDef)
    }


def test_each_hook_has_one_row() -> None:
    assert sorted(seam.hook for seam in SEAMS) == sorted(HOOKS)


@each_seam
def test_a_shipped_module_uses_it(seam: Seam) -> None:
    path = Path(*seam.user.split(".")).with_suffix(".py")
    (source,) = (folder / path for folder in SOURCES if (folder / path).exists())
    assert seam.hook in functions(source)


@each_seam
def test_a_contract_tests_it(seam: Seam) -> None:
    module, _, name = seam.contract.rpartition(".")
    contract = getattr(import_module(f"strongroom.testing.{module}"), name)
    assert any(rule.startswith("test_") for rule in vars(contract))


@each_seam_of_a_kit
def test_a_template_implements_it_and_runs_its_contract(seam: Seam, tmp_path: Path) -> None:
    write_plugin(next(kind for kind in KINDS if kind.name == seam.kind), "drawer", tmp_path)
    (plugin,) = tmp_path.glob("src/*/plugin.py")
    assert seam.hook in functions(plugin)
    tests = "".join(path.read_text() for path in tmp_path.glob("tests/test_*.py"))
    assert re.search(rf"class \w+\(.*\b{seam.contract_name}\b.*\)", tests)


@pytest.mark.parametrize("seam", [seam for seam in SEAMS if not seam.kind], ids=lambda seam: seam.hook)
def test_a_page_shows_code_of_each_other_hook(seam: Seam) -> None:
    assert f"def {seam.hook}(" in (TUTORIALS / f"{seam.page}.md").read_text()


@each_seam_of_a_kit
def test_a_page_shows_its_whole_code(seam: Seam) -> None:
    page = (TUTORIALS / f"{seam.page}.md").read_text()
    assert f"strongroom plugins new {seam.kind} drawer" in page
    assert re.search(rf"<!-- kit: strongroom-{seam.kind}-drawer/src/\S+ -->\n```python\n\S", page)
    assert seam.page in re.findall(r"^\w+$", (TUTORIALS / "index.md").read_text(), re.MULTILINE)


def test_each_kind_has_the_hook_and_the_contract_of_its_first_seam() -> None:
    seams = [next(seam for seam in SEAMS if seam.kind == kind.name) for kind in KINDS]
    assert [(kind.hook, kind.contract) for kind in KINDS] == [
        (seam.hook, seam.contract) for seam in seams
    ]


def test_each_kind_has_a_seam_and_templates() -> None:
    templates = ROOT / "core" / "src" / "strongroom" / "cli" / "plugins" / "templates"
    names = {folder.name for folder in templates.iterdir()} - {"every"}
    assert names == {kind.name for kind in KINDS} == {seam.kind for seam in SEAMS} - {""}
