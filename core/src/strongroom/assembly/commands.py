"""Assembles the services that only commands use, which a server therefore does not import."""

from collections.abc import Mapping
from typing import Any

from strongroom.assembly.container import Container
from strongroom.assembly.features import import_models
from strongroom.assembly.infrastructure import Infrastructure
from strongroom.content.storage.service import BlobService
from strongroom.content.storage.stores import Store
from strongroom.extensions.audit_exports.export import AuditExport
from strongroom.extensions.backup.create import BackupService
from strongroom.extensions.backup.restore_tenant import TenantRestoration
from strongroom.identity.sessions.checkpoints import sign_checkpoint
from strongroom.identity.sessions.signing_keys import load_keys
from strongroom.plugin_api.storage import LocalPaths


def import_tables() -> None:
    """Import the tables of the whole core; this module has imported those below the features."""
    import_models()


def assemble_backups(container: Container) -> BackupService:
    """Return the service that writes backup archives."""
    import_tables()
    base, blobs = container.base, container.get(BlobService)
    storages = {
        name: (store.backend.name, _is_in_backups(base, store)) for name, store in blobs.storages.items()
    }
    tables = base.selection.plugins.tables
    return BackupService(base.settings, base.database, base.clock, blobs, storages, tables)


def assemble_tenant_restoration(container: Container) -> TenantRestoration:
    """Return the service that restores single tenants of archives."""
    import_tables()
    base = container.base
    tables = base.selection.plugins.tables
    return TenantRestoration(base.database, base.clock, container.get(BlobService), tables)


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
