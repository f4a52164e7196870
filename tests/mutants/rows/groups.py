"""Mutants: groups."""

from typing import Final

from tests.mutants.modules import core

ROWS: Final = (
    core(
        "groups-of-others",
        "A group's grant counts for its members only.",
        "content/nodes/permissions.py",
        "        is_in_group(group_grants.c.group_id),\n",
        "",
        "rest/test_groups.py::TestGrants::test_a_member_of_another_group_holds_none",
    ),
    core(
        "groups-expired-grant",
        "A group's grant that has expired is none.",
        "content/nodes/permissions.py",
        '        is_in_force(bindparam("now"), group_grants),\n    )\n    return func.coalesce',
        "    )\n    return func.coalesce",
        "rest/test_groups.py::TestGrants::test_grants_are_listed_by_group",
    ),
    core(
        "groups-other-user",
        "A member of a group is a user, not all users.",
        "content/tenants/group_members.py",
        "group_members.c.group_id == group_id, group_members.c.user_id == user",
        "group_members.c.group_id == group_id",
        "rest/test_groups.py::TestGrants::test_a_member_of_another_group_holds_none",
    ),
    core(
        "groups-administer",
        "Only administrators of a tenant change its groups.",
        "content/tenants/memberships.py",
        "        self.lock_tenant(connection, tenant_id)\n"
        "        self.require_admin(connection, tenant_id, identity)\n",
        "        self.lock_tenant(connection, tenant_id)\n",
        "rest/test_groups.py::TestGroups::test_members_change_none",
    ),
    core(
        "groups-remove-others",
        "Members remove only themselves from a group.",
        "content/tenants/groups.py",
        "if role is not Role.ADMIN and user_id != identity.user_id:",
        "if False:",
        "rest/test_groups.py::TestGroups::test_members_change_none",
    ),
    core(
        "groups-members-seen",
        "Who is in a group is seen by its members and administrators.",
        "content/tenants/groups.py",
        "if role is not Role.ADMIN and own is None:",
        "if False:",
        "rest/test_groups.py::TestGroups::test_members_see_all_groups_and_who_is_in_their_own",
    ),
    core(
        "groups-of-a-user-seen",
        "The groups of a user are for the user and administrators.",
        "content/tenants/groups.py",
        "if user_id not in (None, identity.user_id) and role is not Role.ADMIN:",
        "if False:",
        "rest/test_groups.py::TestGroups"
        "::test_the_groups_of_a_user_are_for_that_user_and_administrators",
    ),
    core(
        "groups-other-tenant",
        "A group of another tenant holds no grant.",
        "content/tenants/groups.py",
        '(groups.c.id == bindparam("group_id")) & (groups.c.tenant_id == bindparam("tenant_id"))',
        '(groups.c.id == bindparam("group_id"))',
        "rest/test_groups.py::TestGrants::test_a_group_of_another_tenant_holds_none",
    ),
    core(
        "groups-grant-outlasting",
        "A group's grant does not outlast the permission of the user who grants it.",
        "content/files/group_grants.py",
        "        end = self._expiry.grant_end(connection, caller, node, requested, before)\n",
        "        end = requested.expires_at\n",
        "rest/test_groups.py::TestGrants::test_no_permission_outlasts_the_group_s_grant",
    ),
    core(
        "groups-move-into",
        "A move gives no group a permission that outlasts the caller's.",
        "content/nodes/grant_ends.py",
        "        _ends_on_path(grants, grants.c.user_id),"
        " _ends_on_path(group_grants, group_grants.c.group_id)\n",
        "        _ends_on_path(grants, grants.c.user_id), _ends_on_path(grants, grants.c.user_id)\n",
        "rest/test_groups.py::TestGrants::test_a_move_does_not_extend_a_group_s_permission",
    ),
    core(
        "groups-move-brought",
        "A move brings no group into a folder for longer than the caller may write there.",
        "content/nodes/expiry.py",
        "        _writers_in(group_grants, group_grants.c.group_id, below),\n",
        "",
        "rest/test_groups.py::TestGrants"
        "::test_a_move_does_not_bring_a_group_into_a_folder_lent_for_writing",
    ),
    core(
        "groups-list-own-only",
        "A list through groups contains grants to the user's groups only.",
        "content/nodes/group_visibility.py",
        "group_grants.c.group_id.in_(groups_of_user()), ",
        "",
        "rest/test_groups.py::TestGrants::test_a_member_of_another_group_holds_none",
    ),
    core(
        "invitations-administer",
        "Only administrators of a tenant invite to it.",
        "content/tenants/invitations.py",
        "        with self._database.read() as connection:\n"
        "            self._memberships.require_admin(connection, tenant_id, identity)\n"
        "        if role.is_privileged",
        "        if role.is_privileged",
        "rest/test_invitations.py::TestWhoInvites::test_messages_are_sent_for_administrators_only",
    ),
    core(
        "invitations-expiry",
        "An invitation ends.",
        "content/tenants/invitation_acceptance.py",
        'IS_OPEN: Final = invitations.c.expires_at > bindparam("now")',
        'IS_OPEN: Final = bindparam("now") == bindparam("now")',
        "rest/test_invitations.py::TestAcceptance::test_a_secret_ends",
    ),
    core(
        "invitations-once",
        "An invitation is accepted once.",
        "content/tenants/invitation_acceptance.py",
        "        if not self.remove(connection, invitation):\n            raise NotFound\n",
        "",
        "rest/test_invitations.py::TestAcceptance::test_a_secret_works_once_for_whoever_presents_it",
    ),
    core(
        "invitations-former-administrator",
        "An invitation ends when its sender no longer administers the tenant.",
        "content/tenants/invitation_acceptance.py",
        "        return role is Role.ADMIN\n",
        "        return True\n",
        "rest/test_invitations.py::TestRegistration::test_one_of_a_former_administrator_does_not",
    ),
    core(
        "invitations-known",
        "Inviting does not reveal who is registered.",
        "content/tenants/invitations.py",
        "        if not self._policy.adds_known:\n            return\n",
        "",
        "rest/test_invitations.py::TestWhoInvites::test_nobody_learns_who_is_registered",
    ),
    core(
        "invitations-secret-of-contact",
        "Registration by invitation only admits the contact that was invited.",
        "content/tenants/invitations.py",
        "return found is not None and Credential(found.kind, found.recipient) == credential",
        "return found is not None",
        "rest/test_invitations.py::TestInvitedRegistration::test_only_the_invited_contact_registers",
    ),
    core(
        "transfers-administer",
        "Only administrators of a tenant transfer the files of a member.",
        "content/files/transfer.py",
        "        self._memberships.lock_as_admin(connection, tenant_id, identity)\n",
        "        self._memberships.lock_tenant(connection, tenant_id)\n",
        "rest/test_transfers.py::TestLeavers::test_only_administrators_of_the_tenant_transfer",
    ),
    core(
        "transfers-member",
        "Files are transferred to members of the tenant only.",
        "content/files/transfer.py",
        '        if self._memberships.role(connection, tenant_id, users["to_user"]) is None:\n',
        "        if False:\n",
        "rest/test_transfers.py::TestLeavers::test_only_administrators_of_the_tenant_transfer",
    ),
    core(
        "transfers-tenant",
        "A tenant is handed over by its administrators and those of the server.",
        "content/tenants/service.py",
        "            if not identity.is_admin:\n"
        "                self._memberships.require_admin(connection, tenant_id, identity)\n"
        "            if self._memberships.role(connection, tenant_id, to_user_id) is None:\n",
        "            if self._memberships.role(connection, tenant_id, to_user_id) is None:\n",
        "rest/test_transfers.py::TestTenants::test_others_do_not",
    ),
)
