"""Mutants: plugin state."""

from typing import Final

from tests.mutants.modules import core

ROWS: Final = (
    core(
        "plugin-own-event-types",
        "No plugin has a type of events that begins with a word of the core.",
        "assembly/registry.py::require_own_events",
        'if (word := event.type.name.partition(".")[0]) in words:',
        'if (word := event.type.name.partition(".")[0]) in ():',
        "unit/foundation/plugins/test_mistakes.py::test_a_mistake_is_refused_at_the_start_in_one_line",
    ),
    core(
        "plugin-markers",
        "A hook without its marker next to marked ones stops the start.",
        "foundation/plugins/plugin_validation.py::check_markers",
        "if is_own and name not in decorated and decorated:",
        "if False:",
        "unit/foundation/plugins/test_mistakes.py::test_a_mistake_is_refused_at_the_start_in_one_line",
    ),
    core(
        "plugin-migrations-checked",
        "A check of the configuration runs the migrations of plugins.",
        "cli/startup.py::_tables_faults",
        "if not tables:",
        "if True:",
        "unit/foundation/plugins/test_mistakes.py"
        "::test_a_check_of_the_configuration_names_the_plugin_whose_migrations_are_wrong",
    ),
    core(
        "plugin-forms-missing",
        "A factor that the login pages cannot ask for stops the start.",
        "assembly/plugin_host/forms.py::PluginForms._fault",
        "if has_pages and (fault := _missing(extension)):",
        "if False and (fault := _missing(extension)):",
        "unit/foundation/plugins/test_mistakes.py::test_a_factor_that_the_login_pages_cannot_ask_for_is_refused",
    ),
    core(
        "plugin-forms-policy",
        "The form of a plugin adds sources to directives, and no directive.",
        "foundation/plugins/form_faults.py::_policy_fault",
        "or not _SOURCES.fullmatch(sources)",
        "",
        "unit/foundation/plugins/test_manager.py"
        "::test_a_missing_or_wrong_class_attribute_is_refused_with_the_expected_one",
    ),
    core(
        "plugin-values-copied",
        "A value of one plugin, user or key cannot be decrypted as another's.",
        "identity/users/plugin_values.py::_purpose",
        'return f"plugin value {plugin} {user_id} {key}"',
        'return "plugin value"',
        "unit/identity/users/test_plugin_values.py::test_the_database_has_no_plain_value_and_a_copied_row_is_refused",
    ),
    core(
        "plugin-values-compared",
        "A value that has changed is not replaced.",
        "identity/users/plugin_values.py::PluginValues.compare_and_set",
        "if not is_same_json(self._json.open(purpose, former), expected):",
        "if False:",
        "unit/identity/users/test_plugin_values.py::test_a_value_is_compared_before_it_is_replaced",
    ),
    core(
        "plugin-values-live-user",
        "No value is stored for a user who was deleted.",
        "identity/users/plugin_values.py::PluginValues.put",
        "self._require_user(connection, user_id) _PUT",
        "_PUT",
        "unit/identity/users/test_plugin_values.py::test_what_cannot_be_stored_is_refused",
    ),
    core(
        "shared-values-copied",
        "A shared value of one plugin or key cannot be decrypted as another's.",
        "foundation/plugins/shared_values.py::_purpose",
        'return f"shared value {name}"',
        'return "shared value"',
        "unit/foundation/plugins/test_shared_values.py::test_the_database_has_no_plain_value_and_a_copied_row_is_refused",
    ),
    core(
        "shared-values-ended",
        "A shared value that has ended is absent.",
        "foundation/plugins/shared_values.py::SharedValues._has_ended",
        "row.expires_at <= self._clock.now()",
        "False",
        "unit/foundation/plugins/test_shared_values.py::test_of_nodes_that_replace_an_ended_value_one_succeeds",
    ),
    core(
        "plugin-range",
        "A plugin does not start with tables that a newer version has contracted.",
        "foundation/database/plugin_tables.py::PluginSchema.is_served",
        "self.oldest_code is not None and self.oldest_code <= self.newest",
        "True",
        "unit/foundation/database/test_plugin_tables.py"
        "::test_an_older_version_refuses_tables_that_a_newer_one_has_contracted",
    ),
    core(
        "plugin-range-recorded",
        "An upgrade records which code can use the tables of each plugin.",
        "foundation/database/upgrade.py::_upgrade_at_once",
        "require_code(connection, oldest, plugin)",
        "pass",
        "unit/foundation/database/test_plugin_tables.py"
        "::test_an_older_version_uses_tables_that_a_newer_one_has_only_expanded",
    ),
    core(
        "lease-free",
        "A job that another process runs is not started.",
        "foundation/database/leases.py::RowLease.claim",
        ".where(self.is_row, self.is_free)",
        ".where(self.is_row)",
        "unit/foundation/jobs/test_leases.py::test_a_new_job_is_due_after_its_interval",
    ),
    core(
        "lease-owner",
        "A run that lost its lease changes nothing.",
        "foundation/database/leases.py::RowLease.__init__",
        'self.is_owned = self.is_row & (owner == bindparam("owner"))',
        "self.is_owned = self.is_row",
        "unit/foundation/jobs/test_leases.py::test_a_run_that_lost_its_lease_changes_nothing",
    ),
)
