"""How much the campaigns do: examples, steps, files and rounds.

``STRONGROOM_TEST_SCALE`` multiplies all of them, for example by 10 in a nightly run; a variable such as
``STRONGROOM_TEST_TREE_STEPS`` sets one.
"""

import os

from tests.support.api import Api


def campaign_size(name: str, default: int) -> int:
    """Return ``STRONGROOM_TEST_<name>``, or the default multiplied by ``STRONGROOM_TEST_SCALE``."""
    if text := os.environ.get(f"STRONGROOM_TEST_{name}"):
        return int(text)
    scaled = round(default * float(os.environ.get("STRONGROOM_TEST_SCALE", "1")))
    return max(scaled, min(default, 1))


def campaign_steps(api: Api, name: str, default: int) -> int:
    """Return a campaign size whose default is a twentieth on PostgreSQL, where steps take longer."""
    is_sqlite = api.container.database.engine.dialect.name == "sqlite"
    return campaign_size(name, default if is_sqlite else default // 20)
