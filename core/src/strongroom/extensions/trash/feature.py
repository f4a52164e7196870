"""The trash, from which deleted files come back."""

from strongroom.web.feature import Feature


class TrashFeature(Feature):
    """The trash."""

    blueprints = ("views:blueprint",)
    services = "services:TrashServices"
