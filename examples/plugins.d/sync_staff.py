"""Creates, renames, suspends and deletes users by a JSON file that a system of human resources writes.

Copy this file to the folder of ``[plugins] folder``. It acts as an administrator of the server::

    [plugins.sync_staff]
    user_id = "01977ab2-..."
    feed = "/srv/hr/staff.json"
    tenant_id = "01977ab2-..."
    group_id = "01977ab2-..."
    successor_id = "01977ab2-..."

The last three are optional: the staff is a group of a space, which the administrator manages, and the
successor gets what the people who leave own in the space.

The file is a list such as ``[{"id": "hr-1", "name": "Ada King", "email": "ada@example.com"}]``.
"""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import click

from strongroom.plugin_api import hookimpl, option
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.jobs import Job
from strongroom.plugin_api.users import LiveStatus, UserInfo
from strongroom.plugin_api.web import ApiError

API_VERSION = "2.0"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """The keys of ``[plugins.sync_staff]``."""

    user_id: str = option(help="The administrator who changes the users.")
    feed: Path = option(help="The JSON file of the staff.")
    delete_days: int = option(90, minimum=1, help="Days after the suspension until a user is deleted.")
    tenant_id: str = option("", help="The space that the staff belongs to; empty: none.")
    group_id: str = option("", help="The group of the space whose members are the staff.")
    successor_id: str = option("", help="The member who gets the files of people who leave.")


@hookimpl
def register_options() -> type[SyncOptions]:
    """Return the type of the options."""
    return SyncOptions


@hookimpl
def register_jobs(host: HostAPI) -> list[Job]:
    """Return the hourly job."""
    return [Job("sync", timedelta(hours=1), lambda _: sync(host))]


@hookimpl
def register_commands(host: HostAPI) -> list[click.Command]:
    """Return the command ``strongroom sync-staff``."""
    return [click.Command("sync-staff", help="Apply the file.", callback=lambda: click.echo(sync(host)))]


def sync(host: HostAPI) -> int:
    """Apply the file, unless another process does, and return how many users were changed."""
    options: SyncOptions = host.options
    lease = host.leases.acquire("sync", seconds=600)
    if lease is None:
        return 0
    try:
        staff = json.loads(options.feed.read_text(encoding="utf-8"))
        with host.acting_as(options.user_id):
            changed = [put(host, person) for person in staff]
            left = [delete_others(host, staff), suspend_others(host, staff)]
            if options.tenant_id:
                join(host, options)
            return sum([*changed, *left])
    finally:
        host.leases.release(lease.id)


def put(host: HostAPI, person: Mapping[str, str]) -> bool:
    """Create or change the user of a person, and return whether there was something to do."""
    user = host.users.find(external_id=person["id"])
    try:
        if user is None:
            email = person["email"]
            host.users.create(person["name"], email=email, email_verified=True, external_id=person["id"])
        elif user.name != person["name"]:
            host.users.update(user.id, name=person["name"], revision=user.revision)
        elif user.status == "suspended":
            host.users.reinstate(user.id)
        else:
            return False
    except ApiError as error:
        # Such as an address that another user has; the others go on.
        logger.warning("%s is skipped: %s", person["id"], error.code)
        return False
    return True


def suspend_others(host: HostAPI, staff: Sequence[Mapping[str, str]]) -> int:
    """Suspend the users of the staff who have left, and return how many."""
    options: SyncOptions = host.options
    left = others(host, staff, "active")
    for user in left:
        host.users.suspend(user.id, reason="Left")
        if options.successor_id:
            host.tenants.transfer_files(options.tenant_id, user.id, options.successor_id)
    return len(left)


def join(host: HostAPI, options: SyncOptions) -> None:
    """Let the staff belong to the space, and be the members of the group."""
    staff = [user.id for user in users_with(host, "active") if user.external_id]
    for user_id in staff:
        # Members keep their roles.
        if not host.tenants.find_roles(user_id, [options.tenant_id]):
            host.tenants.put_member(options.tenant_id, user_id)
    host.tenants.set_group_members(options.tenant_id, options.group_id, staff)


def delete_others(host: HostAPI, staff: Sequence[Mapping[str, str]]) -> int:
    """Delete the users of the staff who left long ago, and return how many."""
    before = host.clock.now() - host.options.delete_days * 24 * 60 * 60 * 1000
    left = [user for user in others(host, staff, "suspended") if user.updated_at < before]
    for user in left:
        host.users.delete(user.id)
    return len(left)


def others(host: HostAPI, staff: Sequence[Mapping[str, str]], status: LiveStatus) -> Sequence[UserInfo]:
    """Return the users with a status who have an id of the staff, and are not in it."""
    present = {person["id"] for person in staff}
    users = users_with(host, status)
    return [user for user in users if user.external_id and user.external_id not in present]


def users_with(host: HostAPI, status: LiveStatus) -> Iterator[UserInfo]:
    """Yield all users with a status."""
    number: int | None = 1
    while number:
        page = host.users.list(status=status, page=number)
        yield from page.items
        number = page.next
