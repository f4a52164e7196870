"""Writes the generated modules of the client.

``python clients/python/generate_client.py`` writes them; ``--check`` only reports stale files. The
models, operations and error classes come from the OpenAPI document of a server with all plugins, and the
synchronous client from the asynchronous one.
"""

import argparse
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from client_generator.errors import error_classes  # noqa: E402
from client_generator.openapi import generated_modules, read_document  # noqa: E402
from client_generator.synchronous import synchronous_modules  # noqa: E402

PACKAGE = HERE / "src" / "strongroom_client"


def main(arguments: list[str]) -> int:
    """Write the modules, or check them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args(arguments).check
    with tempfile.TemporaryDirectory() as folder:
        document = read_document(HERE.parent / "openapi.toml", Path(folder))
        texts = generated_modules(document, Path(folder))
    texts |= {"_catalogue.py": error_classes(document)} | synchronous_modules(PACKAGE / "_async")
    stale = [name for name, text in texts.items() if _current(name) != text]
    stale += [name for name in _generated() if name not in texts]
    if check:
        sys.stderr.writelines(f"{PACKAGE / name} is stale; run: make client\n" for name in stale)
        return len(stale)
    for name in stale:
        _write(PACKAGE / name, texts.get(name))
    return 0


def _generated() -> list[str]:
    return [
        f"{path.parent.name}/{path.name}"
        for name in ("api", "_sync")
        for path in PACKAGE.glob(f"{name}/*.py")
    ]


def _current(name: str) -> str | None:
    path = PACKAGE / name
    return path.read_text() if path.exists() else None


def _write(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink()
        return
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
