"""Each route that changes something names what it records, or why it records nothing.

The actions are those of the audit log and of file events. That a request records them, with the right
actor, is tested by :mod:`tests.rest.test_effects` and by the tests of each feature.
"""

from collections.abc import Mapping
from typing import Final

import pytest
from tests.support.api import Api
from tests.support.databases import on_sqlite
from tests.support.features import LEFT_OUT_ENDPOINTS

from strongroom.content.nodes.events import FileAction
from strongroom.foundation.database.upgrade import upgrade

PLUGINS: Final = (
    "storage_local",
    "factor_totp",
    "login_pages",
    "oidc_provider",
    "share_links",
    "webhooks",
)
pytestmark = pytest.mark.config({"plugins": {"enabled": list(PLUGINS)}})

RECORDED: Final[Mapping[str, str]] = {
    "access keys.create_access_key": "access-key.create",
    "access keys.rename_access_key": "access-key.rename",
    "access keys.report_leaked_keys": "access-key.leaked",
    "access keys.revoke_access_key": "access-key.revoke",
    "access keys.rotate_access_key": "access-key.rotate",
    "authenticator apps.confirm_totp": "authorization.step-up factor.add",
    "authenticator apps.remove_totp": "factor.remove",
    "authorizations.create_authorization": (
        "consent.accept credential.bind login password.change user.reinstate"
    ),
    "authorizations.delete_authorization": "authorization.revoke impersonation.end",
    "authorizations.delete_authorizations": "authorization.revoke-all",
    "authorizations.refresh_authorization": "authorization.refresh",
    "authorizations.revoke_token": "authorization.revoke",
    "business_files.delete_business_file": "business-file.delete",
    "client-brands.disable_client": "authorization.withdraw oidc_provider.client-disable",
    "client-brands.enable_client": "oidc_provider.client-enable",
    "client-brands.remove_client_logo": "oidc_provider.client-update",
    "client-brands.set_client_logo": "oidc_provider.client-update",
    "clients.create_client": "oidc_provider.client-create",
    "clients.delete_client": "authorization.withdraw oidc_provider.client-delete",
    "clients.rotate_client_secret": "oidc_provider.client-rotate-secret",
    "clients.update_client": "oidc_provider.client-update",
    "consents.withdraw_consent": "authorization.withdraw oidc_provider.consent-withdraw",
    "consents.withdraw_consent_by_form": "authorization.withdraw oidc_provider.consent-withdraw",
    "credentials.bind_email": "credential.bind invitation.accept member.put",
    "credentials.bind_mobile": "credential.bind",
    "credentials.change_password": "password.change",
    "credentials.reset_password": "invitation.accept member.put password.reset",
    "credentials.set_username": "credential.bind",
    "credentials.unbind_email": "credential.unbind",
    "credentials.unbind_mobile": "credential.unbind",
    "direct_uploads.complete_direct_upload": "file.created folder.created",
    "file changes.copy_file": "file.created file.replaced folder.created",
    "file changes.move_file": "file.deleted file.moved file.renamed",
    "file changes.rename_file": "file.renamed",
    "file changes.replace_content": "file.replaced",
    "files.create_folder": "folder.created",
    "files.create_folder_in_folder": "folder.created",
    "files.delete_file": "file.deleted file.purge retention.override",
    "files.upload_file": "file.created file.replaced folder.created",
    "files.upload_file_into_folder": "file.created file.replaced folder.created",
    "files_batches.change_files": (
        "file.created file.deleted file.moved file.purge file.renamed file.replaced "
        "file.restored folder.created grant.put grant.remove group-grant.put "
        "group-grant.remove"
    ),
    "groups.create_group": "group.create",
    "groups.delete_group": "group.delete",
    "groups.delete_group_member": "group-member.remove",
    "groups.put_group_member": "group-member.add",
    "groups.rename_group": "group.update",
    "impersonation.impersonate_user": "impersonation.start",
    "invitations.accept_invitation": "invitation.accept member.put",
    "invitations.accept_invitation_secret": "invitation.accept member.put",
    "invitations.create_invitation": "invitation.accept invitation.create member.put",
    "invitations.decline_invitation": "invitation.decline",
    "invitations.delete_invitation": "invitation.delete",
    "invitations.resend_invitation": "invitation.resend",
    "locks.release_lock": "lock.release",
    "managed-users.change_metadata": "user.change-metadata",
    "managed-users.change_server_metadata": "user.change-server-metadata",
    "managed-users.create_password_link": "password-link.issue",
    "managed-users.give_temporary_password": "password.give",
    "managed-users.redeem_password_link": "password-link.redeem",
    "managed-users.remove_contact": "credential.unbind",
    "managed-users.restore_contact": (
        "credential.bind credential.unbind factor.remove password.change user.cancel-deletion"
    ),
    "managed-users.set_contact": "credential.bind",
    "oidc.answer_device_page": (
        "oidc_provider.consent-give oidc_provider.device-allow oidc_provider.device-refuse"
    ),
    "oidc.register_own_client": "oidc_provider.client-create",
    "oidc.confirm_logout": "authorization.revoke",
    "oidc.decide_authorization": "oidc_provider.consent-give",
    "oidc.issue_tokens": "authorization.grant authorization.refresh authorization.withdraw",
    "oidc.revoke_tokens": "authorization.withdraw",
    "own-data.cancel_deletion": "user.cancel-deletion",
    "own-data.export_own_data": "user.export",
    "own-data.schedule_deletion": "user.delete user.schedule-deletion",
    "permissions.delete_grant": "grant.remove",
    "permissions.delete_group_grant": "group-grant.remove",
    "permissions.put_grant": "grant.put",
    "permissions.put_group_grant": "group-grant.put",
    "quarantine.delete_from_quarantine": (
        "business-file.delete file.deleted file.purge quarantine.delete"
    ),
    "quarantine.release_from_quarantine": "quarantine.release",
    "retention.delete_hold": "hold.release",
    "retention.put_hold": "hold.place",
    "retention.put_retention": "retention.set",
    "second factors.confirm_due_enrolment": "factor.add login",
    "second factors.confirm_factor": "authorization.step-up factor.add",
    "second factors.create_recovery_codes": "factor.add",
    "second factors.remove_factor": "factor.remove",
    "second factors.rename_factor": "factor.rename",
    "second factors.reset_factors": "factor.remove factor.reset",
    "second factors.step_up": "authorization.step-up",
    "server accounts.create_server_account": "service-account.create",
    "server accounts.delete_server_account": "user.delete",
    "server accounts.rename_server_account": "user.change",
    "service accounts.create_service_account": "service-account.create",
    "service accounts.create_service_account_key": "access-key.create",
    "service accounts.delete_service_account": "service-account.delete",
    "service accounts.revoke_service_account_key": "access-key.revoke",
    "service accounts.rotate_service_account_key": "access-key.rotate",
    "setup.create_first_administrator": "authorization.revoke login login.challenge user.create",
    "share-pages.drop_file_by_form": "file.created",
    "shares.create_share": "share_links.create",
    "shares.delete_share": "share_links.delete",
    "shares.put_share_policy": "share_links.policy",
    "shares.update_share": "share_links.update",
    "tenants.create_tenant": "tenant.create",
    "tenants.delete_member": "member.remove",
    "tenants.delete_tenant": "retention.override tenant.delete",
    "tenants.put_member": "member.put",
    "tenants.transfer_tenant": "tenant.transfer",
    "tenants.update_tenant": "tenant.update",
    "transfers.transfer_member": "member.transfer",
    "trash.delete_from_trash": "file.purge file.purged",
    "trash.empty_trash": "file.purge file.purged",
    "trash.restore_from_trash": "file.deleted file.restored",
    "uploads.append_to_upload": "file.created folder.created",
    "uploads.change_upload": "file.created",
    "uploads.create_upload": "file.created file.replaced",
    "user imports.cancel_user_import": "user-import.cancel",
    "user imports.create_user_import": "user-import.create",
    "user-management.create_user": (
        "consent.accept invitation.accept member.put password-link.issue user.create"
    ),
    "users.change_user": "user.change user.reinstate user.suspend",
    "users.delete_user": "user.delete",
    "users.reinstate_user": "user.reinstate",
    "users.suspend_user": "user.suspend",
    "versions.change_version": "file.version_changed version.update",
    "versions.delete_version": "file.version_purged retention.override version.purge",
    "versions.restore_version": "file.replaced",
    "visitor-uploads.append_to_visitor_upload": "file.created",
    "visits.drop_file": "file.created folder.created",
    "visits.drop_file_into_folder": "file.created",
    "webhooks.create_webhook_endpoint": "webhooks.endpoint-create",
    "webhooks.delete_webhook_endpoint": "webhooks.endpoint-delete",
    "webhooks.redeliver_webhook": "webhooks.endpoint-redeliver",
    "webhooks.replay_webhook_events": "webhooks.endpoint-replay",
    "webhooks.rotate_webhook_secret": "webhooks.endpoint-rotate-secret",
    "webhooks.take_over_webhook_endpoint": "webhooks.endpoint-take-over",
    "webhooks.test_webhook_endpoint": "webhooks.endpoint-test",
    "webhooks.update_webhook_endpoint": "webhooks.endpoint-update",
}
"""The actions that a route may record, by its endpoint; which of them depends on the request."""

UNRECORDED: Final[Mapping[str, tuple[str, ...]]] = {
    "changes nothing": (
        "credentials.judge_password",
        "invitations.preview_invitation",
        "managed-users.preview_contact_restoration",
        "oidc.begin_authorization_by_form",
        "oidc.end_session_by_form",
        "oidc.get_user_info_by_form",
        "oidc.introspect_token",
    ),
    "makes a challenge or a code; its use is recorded": (
        "oidc.authorize_device",
        "oidc.push_authorization",
        "authenticator apps.create_totp",
        "authorizations.create_challenge",
        "second factors.begin_due_enrolment",
        "second factors.begin_factor",
        "verification.create_captcha",
        "verification.send_verification_code",
    ),
    "ends by itself, and changes no content": ("locks.renew_lock", "locks.take_lock"),
    "gives the tokens of a recorded login": ("login pages.redeem_login_code",),
    "reads files, which are recorded as downloads": (
        "bundles.download_files",
        "visits.download_shared_files",
    ),
    "opens a share, which the events of the share have": (
        "share-pages.open_share",
        "visits.prove_password",
    ),
    "reserves room; the file is recorded when it is whole": (
        "direct_uploads.begin_direct_upload",
        "uploads.terminate_upload",
        "visitor-uploads.create_visitor_upload",
        "visitor-uploads.terminate_visitor_upload",
    ),
    "stores a picture of no tenant; its removal is recorded": (
        "business_files.upload_avatar",
        "business_files.upload_business_file",
        "business_files.upload_cover",
        "business_files.upload_figure",
        "business_files.upload_photo",
    ),
}
"""The routes that record nothing, by the reason."""


def changing(api: Api) -> set[str]:
    """Return the endpoints of the routes with unsafe methods."""
    reads = {"GET", "HEAD", "OPTIONS"}
    rules = [rule for rule in api.app.url_map.iter_rules() if (rule.methods or set()) - reads]
    return {rule.endpoint for rule in rules if not rule.endpoint.startswith("reserved.")}


@on_sqlite
def test_each_changing_route_has_one_row(api: Api) -> None:
    upgrade(api.container.database.engine, api.container.selection.plugins.tables)
    reasons = [endpoint for endpoints in UNRECORDED.values() for endpoint in endpoints]
    rows = [*RECORDED, *reasons]
    assert len(set(rows)) == len(rows)
    assert set(rows) - LEFT_OUT_ENDPOINTS == changing(api)


def test_file_events_are_known() -> None:
    actions = {action for actions in RECORDED.values() for action in actions.split()}
    of_files = {action for action in actions if action.startswith(("file.", "folder."))}
    # The purge of files is in the audit log.
    assert of_files - {"file.purge"} <= {action.value for action in FileAction}


@on_sqlite
def test_each_record_of_a_plugin_has_a_sentence(api: Api) -> None:
    actions = {action for actions in RECORDED.values() for action in actions.split()}
    theirs = {action for action in actions if action.partition(".")[0] in PLUGINS}
    assert theirs
    assert theirs <= api.container.registry.audit_sentences.keys()
