"""The one-file plugin ``signer`` of tests, which signs for other services."""

from pathlib import Path
from typing import Final

from tests.support.config import Table

PLUGIN: Final = """
from strongroom.plugin_api import hookimpl

API_VERSION = "2.0"


@hookimpl
def register_token_types():
    return ["JWT", "logout+jwt"]
"""


def signing_plugin(folder: Path) -> Table:
    """Write the plugin, and return the tables of the configuration that enable it."""
    (plugins := folder / "plugins.d").mkdir(exist_ok=True)
    (plugins / "signer.py").write_text(PLUGIN)
    return {"plugins": {"folder": str(plugins)}}
