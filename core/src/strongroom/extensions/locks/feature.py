"""Locks: files that are changed by one user at a time."""

from typing import ClassVar

from strongroom.activity.audit.outcomes import SUCCESS
from strongroom.web.feature import Feature


class LocksFeature(Feature):
    """Locks of files and folders."""

    silent_actions: ClassVar = {("lock.release", SUCCESS): "locks end by themselves; no event tells"}
    blueprints = ("views:blueprint",)
    services = "services:LockServices"
