"""Generates the reference and the drawings from the code, and the code blocks of the tutorials.

``python docs/generate.py`` writes them; ``--check`` only reports stale files. A hook, key, error,
command or option without documentation in the code ends the program with a line that names it.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from generator.access import access_page
from generator.api import api_pages
from generator.api_changes import api_changes_page
from generator.code_blocks import with_code
from generator.commands import commands_page
from generator.configuration import configuration_page
from generator.contracts import contracts_page
from generator.drawings import processes_drawing, tables_drawing, wings_drawing
from generator.errors import errors_page
from generator.events import events_page
from generator.hooks import hooks_page
from generator.metrics import metrics_page
from generator.plugin_api import plugin_api_pages
from generator.step_up import step_up_page

FOLDER = Path(__file__).parent / "reference"
API = FOLDER / "api"
PLUGIN_API = FOLDER / "plugin-api"
WITH_CODE = ("tutorials", "guides", "zh/guides")
"""The folders of pages that show files of the repository."""
ARCHITECTURE = FOLDER.with_name("architecture")
CONTRIBUTING = FOLDER.with_name("contributing")
NOTE = "<!-- Written by docs/generate.py; change the code that it describes instead. -->"

PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "errors.md": errors_page,
    "events.md": events_page,
    "configuration.md": configuration_page,
    "hooks.md": hooks_page,
    "commands.md": commands_page,
    "contracts.md": contracts_page,
    "metrics.md": metrics_page,
    "step-up.md": step_up_page,
    "access.md": access_page,
}

DRAWINGS: dict[str, Callable[[], Iterator[str]]] = {
    "wings.svg": wings_drawing,
    "processes.svg": processes_drawing,
    "tables.svg": tables_drawing,
}


def main(arguments: list[str]) -> int:
    """Write the pages, or check them."""
    texts = generated_texts()
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    folders = (API, PLUGIN_API)
    former = [path for folder in folders for path in folder.glob("*.md") if path not in texts]
    if arguments == ["--check"]:
        for path in [*stale, *former]:
            sys.stderr.write(f"{path} is stale; run: python docs/generate.py\n")
        return len(stale) + len(former)
    for path in former:
        path.unlink()
    for path in stale:
        path.write_text(texts[path])
    return 0


def generated_texts() -> dict[Path, str]:
    """Return the text of each generated file."""
    pages = {FOLDER / name: "".join(page()) for name, page in PAGES.items()}
    pages |= {API / name: page for name, page in api_pages().items()}
    pages |= {PLUGIN_API / name: page for name, page in plugin_api_pages().items()}
    pages[CONTRIBUTING / "from-1.2-to-2.0.md"] = "".join(api_changes_page())
    texts = {path: f"{NOTE}\n\n{page}" for path, page in pages.items()}
    texts |= {ARCHITECTURE / name: "".join(drawing()) for name, drawing in DRAWINGS.items()}
    paths = [path for name in WITH_CODE for path in sorted((FOLDER.parent / name).glob("*.md"))]
    return texts | {path: with_code(path.read_text()) for path in paths}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
