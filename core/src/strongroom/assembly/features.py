"""The features of the core. A feature that is not listed here is not part of the server."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from strongroom.activity.audit.feature import AuditFeature
from strongroom.activity.events.catalogue import EventCatalogue
from strongroom.activity.events.feature import EventsFeature
from strongroom.activity.notifications.feature import NotificationsFeature
from strongroom.content.files.change_feature import FileChangesFeature
from strongroom.content.files.feature import FilesFeature
from strongroom.content.files.grant_feature import GrantsFeature
from strongroom.content.nodes.feature import NodesFeature
from strongroom.content.scanning.feature import ScanningFeature
from strongroom.content.storage.feature import StorageFeature
from strongroom.content.tenants.feature import TenantsFeature
from strongroom.content.tenants.groups.feature import GroupsFeature
from strongroom.extensions.batches.feature import BatchesFeature
from strongroom.extensions.bundles.feature import BundlesFeature
from strongroom.extensions.business_files.feature import BusinessFilesFeature
from strongroom.extensions.changes.feature import ChangeFeedFeature
from strongroom.extensions.desired_state.feature import DesiredStateFeature
from strongroom.extensions.events.feature import FileEventsFeature
from strongroom.extensions.first_start.feature import FirstStartFeature
from strongroom.extensions.impersonation.feature import ImpersonationFeature
from strongroom.extensions.invitations.feature import InvitationsFeature
from strongroom.extensions.locks.feature import LocksFeature
from strongroom.extensions.observability.feature import HealthFeature
from strongroom.extensions.observability.instances.feature import InstancesFeature
from strongroom.extensions.own_data.feature import OwnDataFeature
from strongroom.extensions.platform_logins.feature import PlatformLoginsFeature
from strongroom.extensions.provisioning.feature import ProvisioningFeature
from strongroom.extensions.retention.feature import RetentionFeature
from strongroom.extensions.search.feature import SearchFeature
from strongroom.extensions.service_accounts.feature import ServiceAccountsFeature
from strongroom.extensions.storage_maintenance.feature import StorageMaintenanceFeature
from strongroom.extensions.transfers.feature import TransfersFeature
from strongroom.extensions.trash.feature import TrashFeature
from strongroom.extensions.uploads.direct_feature import DirectUploadsFeature
from strongroom.extensions.uploads.feature import UploadsFeature
from strongroom.extensions.user_imports.feature import UserImportsFeature
from strongroom.extensions.user_management.feature import UserManagementFeature
from strongroom.extensions.versions.feature import VersionsFeature
from strongroom.identity.access_keys.feature import AccessKeysFeature
from strongroom.identity.accounts.feature import AccountsFeature
from strongroom.identity.grants.feature import ClientGrantsFeature
from strongroom.identity.service_accounts.feature import ServerAccountsFeature
from strongroom.identity.sessions.feature import SessionsFeature
from strongroom.identity.users.feature import UsersFeature
from strongroom.identity.verification.feature import VerificationFeature
from strongroom.web.feature import Feature

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint

FEATURES: Final[tuple[Feature, ...]] = (
    EventsFeature(),
    NotificationsFeature(),
    UsersFeature(),
    FirstStartFeature(),
    AccountsFeature(),
    OwnDataFeature(),
    UserManagementFeature(),
    SessionsFeature(),
    ImpersonationFeature(),
    PlatformLoginsFeature(),
    ServerAccountsFeature(),
    AccessKeysFeature(),
    ClientGrantsFeature(),
    UserImportsFeature(),
    VerificationFeature(),
    TenantsFeature(),
    ServiceAccountsFeature(),
    GroupsFeature(),
    InvitationsFeature(),
    StorageFeature(),
    StorageMaintenanceFeature(),
    NodesFeature(),
    FilesFeature(),
    BundlesFeature(),
    FileEventsFeature(),
    ChangeFeedFeature(),
    FileChangesFeature(),
    BatchesFeature(),
    TrashFeature(),
    RetentionFeature(),
    LocksFeature(),
    VersionsFeature(),
    GrantsFeature(),
    TransfersFeature(),
    ProvisioningFeature(),
    SearchFeature(),
    BusinessFilesFeature(),
    UploadsFeature(),
    DirectUploadsFeature(),
    ScanningFeature(),
    AuditFeature(),
    HealthFeature(),
    InstancesFeature(),
    DesiredStateFeature(),
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
