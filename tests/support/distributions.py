"""Installed distributions for tests: only the files of an installer."""

from pathlib import Path

METADATA = """\
Metadata-Version: 2.4
Name: {name}
Version: 1.0
"""
ENTRY_POINTS = """\
[strongroom.plugins]
{plugin} = {module}
"""


def install(folder: Path, plugin: str, code: str, *, module: str | None = None) -> str:
    """Put a plugin of one module into a folder for ``PYTHONPATH``, and return the module's name."""
    module = module or f"acme_{plugin}"
    (folder / f"{module}.py").write_text(code)
    register(folder, plugin, module)
    return module


def register(folder: Path, plugin: str, module: str) -> None:
    """Put the record of an installed plugin into a folder for ``PYTHONPATH``."""
    record = folder / f"{module}-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text(METADATA.format(name=module.replace("_", "-")))
    (record / "entry_points.txt").write_text(ENTRY_POINTS.format(plugin=plugin, module=module))
