"""How long a server drains when the configuration does not say."""

import pytest

from strongroom.foundation.config import load


@pytest.mark.parametrize(
    ("mode", "given", "seconds"),
    [("production", "", 5), ("development", "", 0), ("production", "0", 0), ("development", "7", 7)],
)
def test_a_server_drains_by_default_in_production_alone(mode: str, given: str, seconds: int) -> None:
    environment = {"STRONGROOM__SERVER__MODE": mode}
    if given:
        environment["STRONGROOM__SERVER__DRAIN_SECONDS"] = given
    assert load(None, environment).settings.drain_seconds == seconds
