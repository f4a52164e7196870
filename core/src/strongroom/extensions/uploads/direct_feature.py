"""Direct uploads: clients send the content to the store."""

from strongroom.web.feature import Feature


class DirectUploadsFeature(Feature):
    """Direct uploads."""

    blueprints = ("direct_views:blueprint",)
    services = "services:DirectUploadServices"
