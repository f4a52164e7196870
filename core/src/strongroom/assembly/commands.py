"""Assembles the services that only commands use, which a server therefore does not import."""

from collections.abc import Mapping
from typing import Any

from strongroom.activity.audit.export import AuditExport
from strongroom.assembly.container import Container
from strongroom.assembly.infrastructure import Infrastructure
from strongroom.assembly.page_templates import template_copies
from strongroom.content.files.reindexing import NameReindexing
from strongroom.content.scanning.rescans import Rescans
from strongroom.content.scanning.scanners import Scanners
from strongroom.content.storage.service import BlobService
from strongroom.content.storage.stores import Store
from strongroom.identity.sessions.checkpoints import sign_checkpoint
from strongroom.identity.sessions.login_methods import LoginMethods
from strongroom.identity.sessions.signing_keys import load_keys
from strongroom.identity.users.user_reindexing import UserReindexing
from strongroom.ops.backup.create import BackupService
from strongroom.ops.observability.checks import (
    EventsCheck,
    ImportedPasswordsCheck,
    JobsCheck,
    LoginMethodsCheck,
    LostCredentialsCheck,
    NameIndexCheck,
    PluginTablesCheck,
    ScannersCheck,
    TemplateCopiesCheck,
    UserIndexCheck,
)
from strongroom.ops.observability.doctor import Doctor
from strongroom.plugin_api.storage import LocalPaths


def assemble_doctor(container: Container) -> Doctor:
    """Return the service that examines an installation."""
    base, blobs = container.base, container.get(BlobService)
    return Doctor(
        base.settings,
        base.database,
        base.limits_store,
        {name: store.backend for name, store in blobs.storages.items()},
        blobs.ownership,
        base.clock,
        base.keys,
        [
            EventsCheck(container.events.positions),
            PluginTablesCheck(base.database, base.selection.plugins.tables),
            ImportedPasswordsCheck(base.database, tuple(base.selection.password_schemes)),
            JobsCheck(container.job_leases, container.jobs, base.clock),
            LoginMethodsCheck(container.get(LoginMethods).methods),
            LostCredentialsCheck(base.database, container.get(LoginMethods).methods),
            ScannersCheck(container.get(Scanners), container.get(Rescans), base.clock),
            NameIndexCheck(container.get(NameReindexing)),
            UserIndexCheck(container.get(UserReindexing)),
            TemplateCopiesCheck(template_copies(base.configuration, base.selection.plugins.plugins)),
        ],
    )


def assemble_backups(container: Container) -> BackupService:
    """Return the service that writes backup archives."""
    base, blobs = container.base, container.get(BlobService)
    storages = {
        name: (store.backend.name, _is_in_backups(base, store)) for name, store in blobs.storages.items()
    }
    tables = base.selection.plugins.tables
    return BackupService(base.settings, base.database, base.clock, blobs, storages, tables)


def _is_in_backups(base: Infrastructure, store: Store) -> bool:
    # A backup of a wrapper's objects would undo what the wrapper does, such as encryption.
    is_wrapper = base.settings.storages[store.name].over is not None
    return not is_wrapper and store.capability(LocalPaths) is not None


def assemble_audit_export(container: Container) -> AuditExport:
    """Return the service that exports audit records with a signed checkpoint."""
    base, settings = container.base, container.settings

    def sign(content: Mapping[str, Any]) -> str:
        return sign_checkpoint(load_keys(settings.keys_path, settings.tokens.algorithm), content)

    issuer = settings.public_root + settings.server.base_path
    return AuditExport(base.database, base.clock, issuer, sign)
