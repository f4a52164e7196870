"""Changes of files: rename, move, copy, replace."""

from strongroom.web.feature import Feature


class FileChangesFeature(Feature):
    """Changes of files."""

    blueprints = ("change_views:blueprint",)
