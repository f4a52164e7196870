"""Keeps a list of a tenant's members as a CSV file, and its former contents in a folder ``Archive``.

Copy this file to the folder of ``[plugins] folder``. The job acts as a user who manages the folder::

    [plugins.list_members]
    user_id = "01977ab2-..."
    tenant_id = "01977ab2-..."
    path = ["Lists"]

The list keeps its id, so people with a permission on it see the new content. Other files of the folder
whose names contain ``members``, such as former lists, are moved to the archive.
"""

import csv
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from io import BytesIO, StringIO

from strongroom.plugin_api import hookimpl, option
from strongroom.plugin_api.files import FileInfo
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.jobs import Job
from strongroom.plugin_api.tenants import MemberInfo
from strongroom.plugin_api.times import iso_format
from strongroom.plugin_api.web import ApiError

API_VERSION = "2.0"
NAME = "members.csv"


@dataclass(frozen=True, slots=True)
class ListOptions:
    """The keys of ``[plugins.list_members]``."""

    user_id: str = option(help="The user who writes the list.")
    tenant_id: str = option(help="The tenant whose members are listed.")
    path: tuple[str, ...] = option(("Lists",), help="The names that lead to the folder of the list.")


@hookimpl
def register_options() -> type[ListOptions]:
    """Return the type of the options."""
    return ListOptions


@hookimpl
def register_jobs(host: HostAPI) -> list[Job]:
    """Return the daily job."""
    return [Job("write", timedelta(days=1), lambda _: write(host))]


def write(host: HostAPI) -> FileInfo:
    """Write the list unless it is the same already, and return it."""
    options: ListOptions = host.options
    with host.acting_as(options.user_id):
        folder = host.files.resolve(options.tenant_id, options.path)
        content = csv_text(members(host)).encode()
        current = None
        for file in lists_in(host, folder):
            if file.name == NAME:
                current = file
            else:
                host.files.move(file.tenant_id, file.id, archive(host, folder).id, on_conflict="rename")
        if current is None:
            return host.files.upload(folder.tenant_id, folder.id, NAME, BytesIO(content))
        if current.checksum == hashlib.sha256(content).hexdigest():
            return current
        return replace(host, folder, current, content)


def lists_in(host: HostAPI, folder: FileInfo) -> list[FileInfo]:
    """Return the files of a folder whose names contain ``members``, without its subfolders."""
    page = host.files.search(folder.tenant_id, "members", parent_id=folder.id, kind="file")
    return [file for file in page.items if file.parent_id == folder.id]


def replace(host: HostAPI, folder: FileInfo, current: FileInfo, content: bytes) -> FileInfo:
    """Copy the list to the archive, and replace its content."""
    name = f"{iso_format(current.updated_at)[:10]} {NAME}"
    target = archive(host, folder)
    host.files.copy(current.tenant_id, current.id, target.id, name, on_conflict="rename")
    # With the revision, so that a person's change meanwhile is not lost.
    return host.files.replace(current.tenant_id, current.id, BytesIO(content), revision=current.revision)


def archive(host: HostAPI, folder: FileInfo) -> FileInfo:
    """Return the folder of the former lists, which the first use creates."""
    try:
        return host.files.resolve(folder.tenant_id, ["Archive"], start=folder.id)
    except ApiError as error:
        if error.code != "error.not-found":
            raise
        return host.files.create_folder(folder.tenant_id, folder.id, "Archive")


def members(host: HostAPI) -> Iterator[MemberInfo]:
    """Yield the members of the tenant."""
    number: int | None = 1
    while number:
        page = host.tenants.members(host.options.tenant_id, page=number)
        yield from page.items
        number = page.next


def csv_text(people: Iterator[MemberInfo]) -> str:
    """Return the content of the list."""
    text = StringIO()
    writer = csv.writer(text)
    writer.writerow(["user", "role", "since"])
    writer.writerows([each.user_id, each.role, iso_format(each.created_at)] for each in people)
    return text.getvalue()
