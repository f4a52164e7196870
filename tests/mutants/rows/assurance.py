"""Mutants: assurance."""

from typing import Final

from tests.mutants.modules import core

ROWS: Final = (
    core(
        "assurance-files",
        "A login that does not meet the tenant's demand has no access to its files.",
        "content/nodes/access.py::NodeAccess.within_demand",
        "if self.demand is None or self.demand.is_met(caller, now):",
        "if True:",
        "rest/test_tenant_assurance.py::test_no_route_of_the_tenant_answers_a_weaker_login",
    ),
    core(
        "assurance-keys",
        "An access key does not meet the demand of a tenant.",
        "content/nodes/access.py::NodeAccessQuery._of_key_caller",
        'return access._replace(key=identity.key).within_demand(identity, parameters["now"])',
        "return access._replace(key=identity.key)",
        "rest/test_tenant_assurance.py::test_no_access_key_reaches_the_tenant",
    ),
    core(
        "assurance-plugins",
        "A plugin reaches a tenant only with a login that meets the demand.",
        "content/nodes/access.py::NodeAccessQuery.of_caller",
        "access = self.of_user(connection, caller.user_id, parameters)\n"
        'return access.within_demand(caller, parameters["now"])',
        "return self.of_user(connection, caller.user_id, parameters)",
        "rest/test_tenant_assurance.py::test_a_plugin_reaches_the_tenant_only_with_the_login_of_its_caller",
    ),
    core(
        "assurance-delegation",
        "A visitor of a plugin does not meet the demand of a tenant.",
        "content/nodes/access.py::NodeAccessQuery.of_caller",
        "access = self._of_delegate(connection, caller.user_id, caller.key, parameters)\n"
        'return access.within_demand(caller, parameters["now"])',
        "return self._of_delegate(connection, caller.user_id, caller.key, parameters)",
        "rest/test_tenant_assurance.py"
        "::test_a_plugin_reaches_the_tenant_only_with_the_login_of_its_caller",
    ),
    core(
        "assurance-tenant",
        "A login that does not meet the tenant's demand has no role in it.",
        "content/tenants/memberships.py::Memberships._require_met",
        "if demand is not None and not demand.is_met(identity, self._clock.now()):",
        "if False:",
        "rest/test_tenant_assurance.py::test_no_route_of_the_tenant_answers_a_weaker_login",
    ),
    core(
        "assurance-order",
        "A weaker class of login does not meet a stronger demand.",
        "foundation/assurance.py::is_as_strong",
        "return _LEVELS.get(acr, 0) >= _LEVELS[required]",
        "return _LEVELS.get(acr, 0) >= min(1, _LEVELS[required])",
        "rest/test_tenant_assurance.py::test_no_route_of_the_tenant_answers_a_weaker_login",
    ),
    core(
        "assurance-unknown",
        "An unknown class of login counts as the weakest.",
        "foundation/assurance.py::is_as_strong",
        "_LEVELS.get(acr, 0)",
        "_LEVELS.get(acr, 3)",
        "rest/test_tenant_assurance.py::test_no_route_of_the_tenant_answers_a_weaker_login",
    ),
    core(
        "assurance-age",
        "A proof that is too old does not meet the demand.",
        "foundation/assurance.py::Demand.is_met",
        "is_recent = self.max_age is None or now - identity.auth_time < self.max_age * 1000",
        "is_recent = True",
        "rest/test_tenant_assurance.py::test_a_proof_must_be_young_enough",
    ),
    core(
        "assurance-change",
        "An administrator removes a demand only with a login that meets it.",
        "content/tenants/memberships.py::Memberships._require_met",
        "raise demand.refusal(identity)",
        "pass",
        "rest/test_tenant_assurance.py::test_an_administrator_sets_only_what_the_own_login_meets",
    ),
    core(
        "assurance-lock-out",
        "An administrator sets only a demand that the own login meets.",
        "content/tenants/service.py::TenantService._require_met",
        "if demand and not identity.is_admin and not demand.is_met(identity, self._clock.now()):",
        "if False:",
        "rest/test_tenant_assurance.py::test_an_administrator_sets_only_what_the_own_login_meets",
    ),
    core(
        "assurance-deletion",
        "Deleting a tenant needs a login that meets its demand.",
        "content/tenants/tenant_deletions.py::TenantDeletion._require_administrator",
        "self._memberships.caller_role(connection, tenant_id, identity)",
        "pass",
        "rest/test_tenant_assurance.py::test_no_route_of_the_tenant_answers_a_weaker_login",
    ),
    core(
        "assurance-leaving",
        "Leaving a tenant needs a login that meets its demand.",
        "content/tenants/service.py::TenantService.remove_member",
        "elif self._memberships.caller_role(connection, tenant_id, identity) is None:",
        "elif self._memberships.role(connection, tenant_id, user_id) is None:",
        "rest/test_tenant_assurance.py::test_a_member_leaves_only_with_a_login_that_the_tenant_accepts",
    ),
)
