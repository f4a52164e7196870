"""Deletes old drafts: files of one folder that have not changed for some days.

Copy this file to the folder of ``[plugins] folder``. The job acts as a user who may delete the files, so
permissions, events and audit records are those of that user::

    [plugins.prune_drafts]
    user_id = "01977ab2-..."
    tenant_id = "01977ab2-..."
    path = ["Drafts"]
    days = 30
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from strongroom.plugin_api import hookimpl, option
from strongroom.plugin_api.files import FileInfo
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.jobs import Job, JobRun

API_VERSION = "2.0"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PruneOptions:
    """The keys of ``[plugins.prune_drafts]``."""

    user_id: str = option(help="The user who deletes the drafts.")
    tenant_id: str = option(help="The tenant of the folder.")
    path: tuple[str, ...] = option(("Drafts",), help="The names that lead to the folder.")
    days: int = option(30, minimum=1, help="Days after its last change until a draft is deleted.")


@hookimpl
def register_options() -> type[PruneOptions]:
    """Return the type of the options."""
    return PruneOptions


@hookimpl
def register_jobs(host: HostAPI) -> list[Job]:
    """Return the hourly job."""
    return [Job("prune", timedelta(hours=1), lambda run: prune(host, run))]


def prune(host: HostAPI, run: JobRun) -> int:
    """Delete the old drafts, and return how many were deleted."""
    options: PruneOptions = host.options
    before = host.clock.now() - options.days * 24 * 60 * 60 * 1000
    count = 0
    with host.acting_as(options.user_id):
        folder = host.files.resolve(options.tenant_id, options.path)
        old = [file for file in files_in(host, folder) if file.updated_at < before]
        for file in old:
            if run.should_stop:
                break
            # With the revision, so that a draft that changes meanwhile stays.
            host.files.delete(file.tenant_id, file.id, revision=file.revision)
            count += 1
    logger.info("Deleted %d drafts", count)
    return count


def files_in(host: HostAPI, folder: FileInfo) -> Iterator[FileInfo]:
    """Yield the files of a folder, without its subfolders."""
    number: int | None = 1
    while number:
        page = host.files.list(folder.tenant_id, folder.id, page=number)
        yield from (file for file in page.items if not file.is_folder)
        number = page.next
