"""Batches: many changes of files in one request."""

from strongroom.web.feature import Feature


class BatchesFeature(Feature):
    """Batches of changes."""

    blueprints = ("views:blueprint",)
    services = "services:BatchServices"
