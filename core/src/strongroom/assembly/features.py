"""The features of the core. A feature that is not listed here is not part of the server."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from strongroom.activity.audit.feature import AuditFeature
from strongroom.activity.events.catalogue import EventCatalogue
from strongroom.activity.events.feature import EventsFeature
from strongroom.activity.notifications.feature import NotificationsFeature
from strongroom.content.bundles.feature import BundlesFeature
from strongroom.content.business_files.feature import BusinessFilesFeature
from strongroom.content.files.batches.feature import BatchesFeature
from strongroom.content.files.change_feature import FileChangesFeature
from strongroom.content.files.changes.feature import ChangeFeedFeature
from strongroom.content.files.events.feature import FileEventsFeature
from strongroom.content.files.feature import FilesFeature
from strongroom.content.files.grant_feature import GrantsFeature
from strongroom.content.files.retention.feature import RetentionFeature
from strongroom.content.files.search_feature import SearchFeature
from strongroom.content.files.transfer_feature import TransfersFeature
from strongroom.content.files.trash.feature import TrashFeature
from strongroom.content.files.versions.feature import VersionsFeature
from strongroom.content.nodes.feature import NodesFeature
from strongroom.content.scanning.feature import ScanningFeature
from strongroom.content.storage.feature import StorageFeature
from strongroom.content.tenants.feature import TenantsFeature
from strongroom.content.tenants.group_feature import GroupsFeature
from strongroom.content.tenants.invitation_feature import InvitationsFeature
from strongroom.content.tenants.service_account_feature import ServiceAccountsFeature
from strongroom.content.uploads.direct_feature import DirectUploadsFeature
from strongroom.content.uploads.feature import UploadsFeature
from strongroom.identity.access_keys.feature import AccessKeysFeature
from strongroom.identity.accounts.feature import AccountsFeature
from strongroom.identity.impersonation.feature import ImpersonationFeature
from strongroom.identity.own_data.feature import OwnDataFeature
from strongroom.identity.platform_logins.feature import PlatformLoginsFeature
from strongroom.identity.service_accounts.feature import ServerAccountsFeature
from strongroom.identity.sessions.feature import SessionsFeature
from strongroom.identity.user_imports.feature import UserImportsFeature
from strongroom.identity.user_management.feature import UserManagementFeature
from strongroom.identity.users.feature import UsersFeature
from strongroom.identity.verification.feature import VerificationFeature
from strongroom.ops.observability.feature import HealthFeature
from strongroom.web.feature import Feature

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint

FEATURES: Final[tuple[Feature, ...]] = (
    EventsFeature(),
    NotificationsFeature(),
    UsersFeature(),
    AccountsFeature(),
    OwnDataFeature(),
    UserManagementFeature(),
    SessionsFeature(),
    ImpersonationFeature(),
    PlatformLoginsFeature(),
    ServerAccountsFeature(),
    AccessKeysFeature(),
    UserImportsFeature(),
    VerificationFeature(),
    TenantsFeature(),
    ServiceAccountsFeature(),
    GroupsFeature(),
    InvitationsFeature(),
    StorageFeature(),
    NodesFeature(),
    FilesFeature(),
    BundlesFeature(),
    FileEventsFeature(),
    ChangeFeedFeature(),
    FileChangesFeature(),
    BatchesFeature(),
    TrashFeature(),
    RetentionFeature(),
    VersionsFeature(),
    GrantsFeature(),
    TransfersFeature(),
    SearchFeature(),
    BusinessFilesFeature(),
    UploadsFeature(),
    DirectUploadsFeature(),
    ScanningFeature(),
    AuditFeature(),
    HealthFeature(),
)
"""In the order of the OpenAPI document."""


def core_blueprints(features: Iterable[Feature] = FEATURES) -> Iterator["Blueprint"]:
    """Iterate over the routes of features."""
    for feature in features:
        yield from feature.register_blueprints()


def import_models(features: Iterable[Feature] = FEATURES) -> None:
    """Import the tables of features, which are in the schema once their services are imported."""
    for feature in features:
        feature.register_services()


def core_events(features: Iterable[Feature] = FEATURES) -> EventCatalogue:
    """Return the events of features."""
    return EventCatalogue(event for feature in features for event in feature.register_event_types())
