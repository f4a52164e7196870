"""Numbers the documents of a folder: the names begin with a number that stays with the document.

Copy this file to the folder of ``[plugins] folder``. The job acts as a user who may rename the files::

    [plugins.number_documents]
    user_id = "01977ab2-..."
    tenant_id = "01977ab2-..."
    path = ["Contracts"]

The number is an attribute of the file, so it remains when people rename the file, or move it away and
back. A copy has the attributes of the original, so the file's id is stored with the number.
"""

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from strongroom.plugin_api import hookimpl, option
from strongroom.plugin_api.files import FileInfo
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.jobs import Job, JobRun

API_VERSION = "2.0"

logger = logging.getLogger(__name__)

_PREFIX = re.compile(r"\d{4,} ")


@dataclass(frozen=True, slots=True)
class NumberOptions:
    """The keys of ``[plugins.number_documents]``."""

    user_id: str = option(help="The user who renames the documents.")
    tenant_id: str = option(help="The tenant of the folder.")
    path: tuple[str, ...] = option(("Documents",), help="The names that lead to the folder.")


@hookimpl
def register_options() -> type[NumberOptions]:
    """Return the type of the options."""
    return NumberOptions


@hookimpl
def register_jobs(host: HostAPI) -> list[Job]:
    """Return the hourly job."""
    return [Job("number", timedelta(hours=1), lambda run: number(host, run))]


def number(host: HostAPI, run: JobRun) -> int:
    """Number the documents that have no number, and return how many were renamed."""
    options: NumberOptions = host.options
    count = 0
    with host.acting_as(options.user_id):
        folder = host.files.resolve(options.tenant_id, options.path)
        # The folder stores the last number, so that the number of a deleted document is not used again.
        folder = host.files.stat(folder.tenant_id, folder.id, with_attributes=True)
        last = int(folder.attributes.get("last", "0"))
        for file in list(files_in(host, folder)):
            if run.should_stop:
                break
            if file.attributes.get("file") != file.id:
                last += 1
                # Stored before the file's own, so that a kill in between skips a number.
                host.files.change_attributes(folder.tenant_id, folder.id, {"last": str(last)})
                own = {"file": file.id, "number": f"{last:04}"}
                host.files.change_attributes(file.tenant_id, file.id, own)
            else:
                own = dict(file.attributes)
            name = f"{own['number']} {_PREFIX.sub('', file.name, count=1)}"
            if name != file.name:
                host.files.move(file.tenant_id, file.id, name=name, on_conflict="rename")
                count += 1
    logger.info("Numbered %d documents", count)
    return count


def files_in(host: HostAPI, folder: FileInfo) -> Iterator[FileInfo]:
    """Yield the files of a folder, without its subfolders, by name."""
    page_number: int | None = 1
    while page_number:
        page = host.files.list(folder.tenant_id, folder.id, page=page_number, with_attributes=True)
        yield from (file for file in page.items if not file.is_folder)
        page_number = page.next
