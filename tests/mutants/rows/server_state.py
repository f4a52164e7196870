"""Mutants: what administrators may read of the server."""

from typing import Final

from tests.mutants.modules import core

_TESTS = "rest/test_host_server.py"

ROWS: Final = (
    core(
        "server-state-administrators",
        "Only administrators of the server read its state.",
        "assembly/plugin_host/server.py::HostServer._administered",
        "if not caller.is_admin:",
        "if False:",
        f"{_TESTS}::test_each_method_needs_an_administrator",
    ),
    core(
        "server-state-impersonation",
        "An impersonated administrator does not read the state of the server.",
        "assembly/plugin_host/server.py::HostServer._administered",
        "if caller.actor_id is not None:",
        "if False:",
        f"{_TESTS}::test_impersonated_administrators_are_refused",
    ),
    core(
        "server-state-secrets",
        "Secrets within tables of the configuration are masked.",
        "foundation/config/describe.py::_masked",
        'item.metadata["secret"] and value',
        "False",
        "unit/foundation/config/test_describe.py::test_show_hides_secrets_within_tables",
    ),
    core(
        "server-state-named-secrets",
        "An option that is named like a secret is one unless its declaration says otherwise.",
        "plugin_api/extension.py::_OptionField.__set_name__",
        "name.lower().endswith(SECRET_ENDINGS)",
        "False",
        "unit/foundation/config/test_describe.py"
        "::test_a_key_is_secret_by_its_name_unless_its_declaration_says_otherwise",
    ),
    core(
        "server-state-driver-secrets",
        "Secrets in the messages of drivers are masked.",
        "foundation/config/describe.py::SecretMask.hide",
        "text = text.replace(secret, MASK)",
        "pass",
        f"{_TESTS}::test_a_storage_is_tested_and_its_content_counted",
    ),
    core(
        "server-state-spelled-secrets",
        "Secrets are masked as messages quote them.",
        "foundation/config/describe.py::_spellings",
        "for literal in (repr(secret), ascii(secret), json.dumps(secret), spell(secret)):",
        "for literal in ():",
        "unit/foundation/config/test_describe.py::test_secrets_are_masked_in_other_spellings",
    ),
    core(
        "server-state-logged-secrets",
        "Secrets that plugins log are masked.",
        "foundation/logs.py::TextFormatter.formatMessage",
        "record.message = self.hide(record.message)",
        "pass",
        "unit/extensions/observability/test_logs.py::test_a_secret_that_a_plugin_logs_is_masked",
    ),
    core(
        "server-state-logged-tracebacks",
        "Secrets in tracebacks are masked.",
        "foundation/logs.py::_HidingFormatter.formatException",
        "self.hide(super().formatException(ei))",
        "super().formatException(ei)",
        "unit/extensions/observability/test_logs.py::test_a_secret_that_a_plugin_logs_is_masked",
    ),
)
