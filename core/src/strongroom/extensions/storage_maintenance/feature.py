"""Maintenance of storages."""

from strongroom.web.feature import Feature


class StorageMaintenanceFeature(Feature):
    """Checks of storages, and migrations to another storage."""

    services = "services:StorageMaintenanceServices"
