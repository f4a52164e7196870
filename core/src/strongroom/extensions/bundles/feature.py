"""ZIP archives of files and folders."""

from strongroom.web.feature import Feature


class BundlesFeature(Feature):
    """ZIP archives."""

    blueprints = ("views:blueprint",)
    services = "services:BundleServices"
