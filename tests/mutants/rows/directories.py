"""Mutants: directories that provision users, and attributes of files."""

from typing import Final

from tests.mutants.modules import core

_TESTS: Final = "rest/test_provisioning.py"
_USERS: Final = "extensions/provisioning/users.py"
_ATTRIBUTES: Final = "rest/test_host_files.py::TestAttributes"

ROWS: Final = (
    core(
        "directories-reading",
        "A directory that may only read changes nothing.",
        "extensions/provisioning/directories.py::DirectoryService.require",
        "if directory is None or (is_change and not directory.may_write):",
        "if directory is None:",
        f"{_TESTS}::test_a_directory_that_may_only_read_changes_nothing",
    ),
    core(
        "directories-reach",
        "A directory reaches only the users that it has created.",
        "extensions/provisioning/user_records.py::_conditions",
        "conditions = [columns.directory_id == directory.id]",
        "conditions = []",
        f"{_TESTS}::test_a_directory_reaches_no_user_of_others",
    ),
    core(
        "directories-members",
        "A group of a directory has only users that the directory has created.",
        "extensions/provisioning/groups.py::ProvisionedGroups._find_active",
        "for user_id, of, member in rows if of == directory.id}",
        "for user_id, of, member in rows}",
        f"{_TESTS}::test_a_directory_reaches_no_user_of_others",
    ),
    core(
        "directories-lookups",
        "A lookup of a directory does not read all of its users.",
        "extensions/provisioning/user_records.py::_conditions",
        "conditions += [columns.realm == directory.realm, columns.external_id == chosen.external_id]",
        "conditions += [columns.external_id == chosen.external_id]",
        f"{_TESTS}::test_no_lookup_reads_all_users_or_groups_of_the_directory",
    ),
    core(
        "directories-addresses",
        "A directory replaces no address that its holder has verified.",
        f"{_USERS}::ProvisionedUsers._change_email",
        "if is_kept or not self._is_managed(connection, directory, user_id):",
        "if not self._is_managed(connection, directory, user_id):",
        f"{_TESTS}::test_an_address_changes_until_its_holder_has_verified_it",
    ),
    core(
        "directories-accounts",
        "The directory of a tenant does not change accounts that belong to another tenant as well.",
        f"{_USERS}::ProvisionedUsers._is_managed",
        "return _OTHER_MEMBERSHIP.scalar(connection, elsewhere) is None",
        "return True",
        f"{_TESTS}::test_a_user_of_another_tenant_too_keeps_the_account",
    ),
    core(
        "directories-errors",
        "Only administrators read the errors of a directory.",
        "extensions/provisioning/directories.py::DirectoryService.get",
        "self._require_administrator(connection, identity, tenant_id)",
        "pass",
        f"{_TESTS}::test_errors_are_the_administrators_to_read",
    ),
    core(
        "directories-few-errors",
        "A directory cannot fill the table of errors.",
        "extensions/provisioning/directory_errors.py::DirectoryErrors.record",
        "_REMOVE_SURPLUS.execute(connection, surplus)",
        "pass",
        f"{_TESTS}::test_errors_are_few_and_go_after_a_month",
    ),
    core(
        "attributes-locks",
        "A lock forbids changes of attributes.",
        "content/files/attributes.py::AttributeService.change",
        "self._tree.locks.require(connection, caller, tenant_id, [node_id])",
        "pass",
        f"{_ATTRIBUTES}::test_readers_cannot_change_them_and_locks_forbid_it",
    ),
    core(
        "attributes-plugins",
        "A plugin sees no attributes of another one.",
        "content/nodes/attributes.py",
        ".where(_OF_NODES, _OF_PLUGIN)",
        ".where(_OF_NODES)",
        f"{_ATTRIBUTES}::test_plugins_do_not_see_the_attributes_of_others",
    ),
)
