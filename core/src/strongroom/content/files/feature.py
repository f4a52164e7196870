"""Files and folders: lists, uploads and downloads."""

from strongroom.web.feature import Feature


class FilesFeature(Feature):
    """Files and folders."""

    blueprints = ("views:blueprint",)
    services = "services:FileServices"
