"""``strongroom plugins check`` names what a plugin for plugin API 1.2 must change."""

import re
from pathlib import Path
from typing import Final

from click.testing import CliRunner
from tests.support.host_facets import FACETS

from strongroom.cli.main import root
from strongroom.foundation.errors import catalogue
from strongroom.foundation.plugins.api_changes import ERROR_CODES, LENT, MEMBERS, find_changes
from strongroom.plugin_api.host import HostAPI

# The example "maintenance_mode" as it was for plugin API 1.2, with what other plugins of then used.
FORMER: Final = """
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.answers import LEAST_BYTES
from strongroom.plugin_api.web import ApiError, Blueprint, ErrorKind, HostAPI
from strongroom.plugin_api.factors import kind_of, member_of

API_VERSION = "1.2"

MAINTENANCE = ErrorKind(503, "error.maintenance", "The server is being maintained.", retry_after=30)


@hookimpl
def register_blueprints(host: HostAPI) -> list[Blueprint]:
    routes = host.blueprint("maintenance", description="The mode.")

    @routes.operation("POST", "/api/v1/mode", access=None, admits=("basic",), errors=host.login_errors)
    def switch(body):
        host.browser.require_csrf(body["csrf"])
        Modes(host).seal("on")
        return host.log_in("mode", body)

    return [routes]


class Modes:
    def __init__(self, host: HostAPI) -> None:
        self._host = host

    def seal(self, text):
        self._host.authenticate(scope="files:read", admits=("basic",))
        self._host.require_browser_session(admits_impersonation=True)
        self._host.tenants.create_group("t", "Sales")
        return self._host.seal(text) + host_of(self).name

    def handle_of(self, answer):
        return self.proofs.spend_code(answer["code"], answer["contact"], "login")

    def is_refused_key(self, error):
        return error.code == "error.key-not-admitted"
"""
LINES: Final = [
    "3: strongroom.plugin_api.answers is now strongroom.plugin_api.http_timeouts",
    "4: strongroom.plugin_api.web.HostAPI is now strongroom.plugin_api.host.HostAPI",
    "5: strongroom.plugin_api.factors.kind_of is now strongroom.plugin_api.factors.factor_kind",
    "5: strongroom.plugin_api.factors.member_of is now strongroom.plugin_api.factors.member_name",
    "14: host.blueprint is now Blueprint",
    "16: host.login_errors is now HostErrors.LOG_IN",
    "16: operation(..., admits=...) is now operation(..., authenticators=...)",
    "18: host.browser.require_csrf(value) is now host.browser.require_csrf()",
    "20: host.log_in is now host.logins.log_in",
    "30: host.authenticate(..., admits=...) is now host.authenticate(..., authenticators=...)",
    "31: host.require_browser_session is now host.browser.require_session",
    "31: host.require_browser_session(admits_impersonation=...) is now host.browser.require_session(",
    '32: host.tenants.create_group is now host.rest("POST", "/api/v1/tenants/{tenantId}/groups")',
    "33: host.seal is now host.secrets.seal",
    "35: PasswordlessFactor.handle_of(answer) is now PasswordlessFactor.get_handle(answer)",
    "36: Proofs.spend_code(...) is now Proofs.consume_code(...)",
    "39: error.key-not-admitted is now error.key-not-accepted",
]


def test_a_plugin_for_the_former_api_is_told_each_change(tmp_path: Path) -> None:
    path = tmp_path / "maintenance.py"
    path.write_text(FORMER)
    result = CliRunner().invoke(root, ["plugins", "check", str(path)])
    shown = result.stdout.splitlines()
    assert len(shown) == len(LINES)
    for line, expected in zip(shown, LINES, strict=True):
        assert line.startswith(f"{path}:{expected}")
    assert result.stderr.startswith("Error: maintenance uses a former plugin API;")
    assert result.exit_code == 1


def test_a_former_use_fails_the_check_of_a_plugin_that_states_the_new_version(tmp_path: Path) -> None:
    path = tmp_path / "notes.py"
    path.write_text(
        'API_VERSION = "2.0"\n\ndef note(host):\n    host.notify("u", "s", "t")\n    host.seal("x")\n'
    )
    result = CliRunner().invoke(root, ["plugins", "check", str(path)])
    assert result.stdout == f"{path}:5: host.seal is now host.secrets.seal\n"
    assert result.stderr.startswith("Error: notes uses a former plugin API;")
    assert result.exit_code == 1


def test_each_former_member_is_found_and_its_successor_exists() -> None:
    faults = []
    for change in (*MEMBERS, *LENT):
        source = f"def view(host, other):\n    other{change.old[4:]}\n    {change.old}('x')\n"
        if [*find_changes(source)] != [(3, change)]:
            faults.append(f"{change.old} is not found")
        facet, _, member = change.new.removeprefix("host.").partition(".")
        if facet in FACETS and not hasattr(FACETS[facet], re.split(r"\W", member)[0]):
            faults.append(f"there is no {change.new}")
        if hasattr(HostAPI, change.old.removeprefix("host.")):
            faults.append(f"the host still has {change.old}")
    assert faults == []


def test_each_former_code_of_an_error_has_a_successor() -> None:
    codes = {kind.code for kind in catalogue()}
    assert {change.new for change in ERROR_CODES} <= codes
    assert codes.isdisjoint(change.old for change in ERROR_CODES)


INDIRECT: Final = """
import strongroom.plugin_api.web as pages
from strongroom.plugin_api import web

class Shelf:
    api: web.HostAPI

    def __init__(self, given: pages.HostAPI):
        self._kept = given

    def show(self):
        self._kept.page("x")
        return self.api.page("y")
"""


def test_uses_by_other_names_are_found() -> None:
    changes = [(line, change.old) for line, change in find_changes(INDIRECT)]
    name = "strongroom.plugin_api.web.HostAPI"
    assert changes == [(6, name), (8, name), (12, "host.page"), (13, "host.page")]
