"""The cost of the console at a start: each process of a server creates the application."""

from typing import Any, cast

import pytest
from werkzeug.routing import Rule

from strongroom.plugin_api.host import HostAPI
from strongroom_console.application import create_application


def test_a_start_compiles_no_function_for_urls(monkeypatch: pytest.MonkeyPatch) -> None:
    """They took most of the time, so that the log of a first start named the console as slow."""
    compiled: list[str] = []

    def get_code(_code: Any, name: str) -> Any:
        compiled.append(name)

    monkeypatch.setattr(Rule, "_get_func_code", staticmethod(get_code))
    application = create_application(cast("HostAPI", None))
    assert len(list(application.url_map.iter_rules())) > 100
    assert compiled == []
