"""Uploads that can be resumed."""

from strongroom.web.feature import Feature


class UploadsFeature(Feature):
    """Resumable uploads."""

    blueprints = ("views:blueprint",)
    services = "services:UploadServices"
