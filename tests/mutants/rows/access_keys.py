"""Mutants: access keys."""

from typing import Final

from tests.mutants.modules import core

ROWS: Final = (
    core(
        "keys-secret",
        "An access key needs its secret.",
        "identity/access_keys/verification.py",
        "if key.secret_hash is None or not self._is_secret(key):",
        "if key.secret_hash is None:",
        "rest/test_access_keys.py::TestWrongKeys::test_each_is_401",
    ),
    core(
        "keys-expiry",
        "An access key is refused after its end.",
        "identity/access_keys/verification.py",
        " or key.expires_at <= self._now:",
        ":",
        "rest/test_access_keys.py::TestEnd::test_it_expires",
    ),
    core(
        "keys-overlap",
        "The previous secret of a rotated key ends.",
        "identity/access_keys/verification.py",
        "(is_previous and (key.previous_until or 0) > self._now)",
        "is_previous",
        "rest/test_access_keys.py::TestEnd::test_a_rotation_overlaps",
    ),
    core(
        "keys-suspended",
        "The access keys of a suspended user are refused.",
        "identity/users/service.py",
        "where(users.c.id == user_id, active)",
        "where(users.c.id == user_id)",
        "rest/test_access_keys.py::TestEnd::test_a_suspended_user_s_key_is_refused",
    ),
    core(
        "keys-addresses",
        "An access key is used only from its networks.",
        "identity/access_keys/verification.py",
        "if key.addresses and not _is_within",
        "if False and not _is_within",
        "rest/test_access_keys.py::TestUse::test_its_addresses_are_checked",
    ),
    core(
        "keys-limit",
        "Wrong access keys are limited per address.",
        "identity/access_keys/verification.py",
        "            self._limits.require(self._allowance(network))",
        "            pass",
        "rest/test_access_keys.py::TestWrongKeys::test_too_many_from_one_address_refuse_right_keys_too",
    ),
    core(
        "keys-scope",
        "An access key needs the scope of the operation.",
        "identity/access_keys/verification.py",
        "if self._use.scope not in limits.scopes:",
        "if False:",
        "rest/test_operation_scopes.py::test_a_key_reaches_only_the_operations_of_its_scope",
    ),
    core(
        "keys-tenant",
        "An access key of a tenant reaches no other path.",
        "identity/access_keys/verification.py",
        "if limits.tenant_id is not None and",
        "if False and",
        "rest/test_operation_scopes.py"
        "::test_a_key_of_a_tenant_is_refused_where_the_path_names_no_tenant_or_another",
    ),
    core(
        "keys-closed",
        "An operation without a scope refuses access keys.",
        "web/http/access.py",
        "        if scope is None:\n            raise KeyNotAdmitted\n",
        '        scope = scope or Scope("files:read")\n',
        "rest/test_operation_scopes.py"
        "::test_every_other_operation_refuses_a_key_of_an_administrator_with_all_scopes",
    ),
    core(
        "keys-folder",
        "An access key of a folder reaches nothing outside of it.",
        "content/nodes/permissions.py",
        "within = key_folder.is_(None) | key_folder.in_(select(path.c.id))",
        "within = true()",
        "rest/test_key_limits.py::test_no_call_reaches_a_node_outside_of_the_folder",
    ),
    core(
        "keys-permission",
        "The scopes of an access key limit the permission on files.",
        "content/nodes/permissions.py",
        "limited = least(effective_permission(member.c.role), func.coalesce(key.c.max_permission, 0))",
        "limited = effective_permission(member.c.role)",
        "rest/test_access_keys.py::TestUse::test_it_acts_as_its_user",
    ),
    core(
        "keys-top-level",
        "An access key of a folder creates nothing at the top level.",
        "content/nodes/access.py",
        "if self.folder_id is not None or self.ceiling < operations.CREATE.permission:",
        "if False:",
        "rest/test_key_limits.py::test_no_call_reaches_a_node_outside_of_the_folder",
    ),
    core(
        "keys-role",
        "An access key of a folder has no role in the tenant.",
        "content/tenants/memberships.py",
        "if identity.key is not None and not identity.key.covers_tenant(tenant_id):",
        "if False:",
        "rest/test_access_keys.py::TestUse::test_one_of_a_folder_has_no_role_in_the_tenant",
    ),
    core(
        "keys-proof",
        "Creating an access key needs a fresh proof.",
        "identity/access_keys/service.py",
        "        identity.require_self(user_id)\n        self.require_proof(identity, proof)\n"
        "        return self.create_for",
        "        identity.require_self(user_id)\n        return self.create_for",
        "rest/test_access_keys.py::TestCreation::test_it_needs_a_fresh_proof",
    ),
    core(
        "keys-self",
        "Users create access keys only for themselves.",
        "identity/access_keys/service.py",
        "        identity.require_self(user_id)\n        self.require_proof(identity, proof)\n"
        "        return self.create_for",
        "        self.require_proof(identity, proof)\n        return self.create_for",
        "rest/test_access_keys.py::TestCreation::test_only_the_user_creates_it",
    ),
    core(
        "service-accounts-login",
        "A service account cannot log in.",
        "identity/sessions/tokens.py",
        "if user.type == UserType.SERVICE:",
        "if False:",
        "rest/test_service_accounts.py::test_it_cannot_log_in",
    ),
)
