"""Stored bytes of all features."""

from strongroom.web.feature import Feature


class StorageFeature(Feature):
    """Stored bytes."""

    services = "services:StorageServices"
