"""Mutants: network drives, and what they need of the host."""

from typing import Final

from tests.mutants.modules import core, webdav

_REPLACING: Final = "rest/test_host_files.py::TestReplacing::"
_DESTINATIONS: Final = "webdav/rest/test_dav_files.py::TestDestinations::"
ROWS: Final = (
    core(
        "drives-replaced-unchanged",
        "A change does not delete what has changed since the caller has read it.",
        "assembly/plugin_host/files/deletion.py::Replacing._deleting_first",
        "replaced.revision",
        "None",
        f"{_REPLACING}test_what_has_changed_since_is_not_deleted",
    ),
    core(
        "drives-replaced-with-the-change",
        "A change that is refused deletes nothing.",
        "assembly/plugin_host/files/deletion.py::Replacing._deleting_first",
        "yield delete",
        "files.delete(caller, tenant_id, replaced.id)\nyield prepare_nothing",
        f"{_REPLACING}test_the_change_and_the_deletion_are_one",
    ),
    core(
        "drives-place-visible",
        "The place of a new file is in a folder that the caller can see.",
        "content/files/paths.py::PathLookup.find_place",
        "self._require_visible(connection, caller, tenant_id, ids.get(last - 1))",
        "None",
        "rest/test_host_paths.py::TestResolve::test_places_are_hidden_like_paths",
    ),
    webdav(
        "drives-destination-host",
        "A destination on another host is refused.",
        "requests.py::DavRequest._is_here",
        "bool(requested) and authority ==",
        "authority[0] is not None or",
        f"{_DESTINATIONS}test_hostile_destinations_are_refused",
        f"{_DESTINATIONS}test_the_server_may_have_another_name",
    ),
)
