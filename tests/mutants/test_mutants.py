"""Each security guard has a test that fails without it.

By default the table is checked and two mutants, :data:`CHEAP`, are run. ``STRONGROOM_TEST_MUTANTS`` runs
others: ``all``, a number of them spread over the table, or names separated by commas.
"""

import ast
import os
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.mutants.mutant import ROOT, Mutant, copy_sources, is_killed, run_tests, write_mutant
from tests.mutants.table import MUTANTS

CHEAP = "names-slash,gateway-underscore"
CHOSEN = os.environ.get("STRONGROOM_TEST_MUTANTS", CHEAP)


def chosen(selection: str) -> list[Mutant]:
    """Return the mutants selected by ``all``, a number or a list of names."""
    if selection == "all":
        return list(MUTANTS)
    if selection.isdecimal():
        count = min(int(selection), len(MUTANTS))
        return [MUTANTS[index * len(MUTANTS) // count] for index in range(count)]
    by_name = {mutant.name: mutant for mutant in MUTANTS}
    return [by_name[name.strip()] for name in selection.split(",")]


def functions_of(body: list[ast.stmt], prefix: str = "") -> set[str]:
    """Return the names of functions and of the methods of classes, as pytest spells them."""
    names = {prefix + item.name for item in body if isinstance(item, ast.FunctionDef)}
    classes = [item for item in body if isinstance(item, ast.ClassDef)]
    return names.union(*(functions_of(item.body, f"{prefix}{item.name}::") for item in classes))


@cache
def names_in(path: str) -> set[str]:
    """Return the names of the tests in a file."""
    return functions_of(ast.parse((ROOT / path).read_text(encoding="utf-8")).body)


def test_there_are_at_least_sixty_with_unique_names() -> None:
    assert len(MUTANTS) >= 60
    assert max(Counter(mutant.name for mutant in MUTANTS).values()) == 1


def fault_of(mutant: Mutant) -> str | None:
    """Return why a mutant cannot be run, or ``None``."""
    try:
        compile(mutant.mutated(), mutant.module, "exec")
    except Exception as error:  # whatever it is, the message names it with the mutant
        return f"{mutant.name}: {error}"
    return None


def test_each_mutant_applies_and_compiles() -> None:
    assert list(filter(None, map(fault_of, MUTANTS))) == []


def test_the_tests_of_each_mutant_exist() -> None:
    named = [(mutant.name, *test.partition("::")) for mutant in MUTANTS for test in mutant.tests]
    assert [mutant.name for mutant in MUTANTS if not mutant.tests] == []
    assert [row for row in named if row[3] not in names_in(row[1])] == []


@pytest.mark.parametrize("mutant", chosen(CHOSEN), ids=lambda mutant: mutant.name)
def test_a_mutant_is_killed(mutant: Mutant, tmp_path: Path) -> None:
    run = run_tests(mutant.tests, write_mutant(mutant, tmp_path))
    assert is_killed(run), f"survived without its guard: {mutant.guard}\n{run.stdout}{run.stderr}"


@pytest.mark.skipif(CHOSEN == CHEAP, reason="the rest of the suite runs these tests")
def test_the_tests_pass_with_all_guards_in_place(tmp_path: Path) -> None:
    tests = tuple(sorted({test for mutant in chosen(CHOSEN) for test in mutant.tests}))
    run = run_tests(tests, copy_sources(Path("core/src"), tmp_path))
    assert run.returncode == 0, run.stdout + run.stderr
