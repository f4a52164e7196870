"""The main tests of the REST API, on PostgreSQL behind a real pgbouncer (``make test-pooled``)."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.poolers import Mode, needs_pgbouncer

ROOT = Path(__file__).parents[2]
MINUTES = 40

pytestmark = [
    needs_pgbouncer,
    pytest.mark.skipif(
        not os.environ.get("STRONGROOM_TEST_POOLED"), reason="takes minutes: make test-pooled"
    ),
]


def quick_tests() -> list[str]:
    """Return the paths of the REST tests that ``make test-quick`` runs."""
    names = re.search(r"^QUICK := (.+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert names is not None
    return [f"tests/rest/test_{name}.py" for name in names[1].split()]


@pytest.mark.parametrize("mode", ["transaction", "session"])
def test_the_main_tests_pass_behind_a_pooler(mode: Mode) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "", "-k", "postgresql", *quick_tests()],
        cwd=ROOT,
        env={**os.environ, "STRONGROOM_TEST_POOLER": mode},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=MINUTES * 60,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-20_000:]
    assert " passed" in result.stdout
