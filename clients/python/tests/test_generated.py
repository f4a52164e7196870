"""The generated modules belong to the server of this tree."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parents[1]


def test_the_generated_modules_are_up_to_date() -> None:
    command: list[str | Path] = [sys.executable, HERE / "generate_client.py", "--check"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_the_client_does_not_import_the_server() -> None:
    modules = (HERE / "src").rglob("*.py")
    assert [path for path in modules if "import strongroom." in path.read_text()] == []
    code = "import sys, strongroom_client.cli; sys.exit('strongroom' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
