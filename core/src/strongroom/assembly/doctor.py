"""Assembles the doctor, which imports much that a server does not need until it is examined."""

from collections.abc import Callable, Iterator, Mapping

from strongroom.activity.notifications.service import MessageService
from strongroom.assembly.page_templates import template_copies
from strongroom.assembly.services import Services
from strongroom.content.files.reindexing import NameReindexing
from strongroom.content.scanning.rescans import Rescans
from strongroom.content.scanning.scanners import Scanners
from strongroom.content.storage.service import BlobService
from strongroom.extensions.observability.checks import (
    EventsCheck,
    ImportedPasswordsCheck,
    JobsCheck,
    LoginMethodsCheck,
    LostCredentialsCheck,
    MessagesCheck,
    NameIndexCheck,
    PluginTablesCheck,
    RestoringPageCheck,
    ScannersCheck,
    TemplateCopiesCheck,
    UserIndexCheck,
)
from strongroom.extensions.observability.doctor import Check, CheckResult, Doctor
from strongroom.extensions.observability.instances.checks import InstancesCheck
from strongroom.extensions.observability.instances.store import InstanceStore
from strongroom.identity.sessions.login_methods import LoginMethods
from strongroom.identity.users.change_notices import ChangeNotices
from strongroom.identity.users.user_reindexing import UserReindexing
from strongroom.plugin_api.jobs import Job


def examine_cluster(services: Services) -> Iterator[CheckResult]:
    """Yield the findings about the instances of the cluster."""
    yield from InstancesCheck(services.get(InstanceStore), services.base.clock)()


def assemble_doctor(services: Services, jobs: Callable[[], Mapping[str, Job]]) -> Doctor:
    """Return the service that examines an installation.

    Args:
        jobs: returns the jobs of the core and of plugins by name.
    """
    base, blobs = services.base, services.get(BlobService)
    return Doctor(
        base.settings,
        base.database,
        base.limits_store,
        {name: store.backend for name, store in blobs.storages.items()},
        blobs.ownership,
        base.clock,
        base.keys,
        _checks(services, jobs),
    )


def _checks(services: Services, jobs: Callable[[], Mapping[str, Job]]) -> dict[str, Check]:
    base, methods = services.base, services.get(LoginMethods).methods
    plugins = base.selection.plugins
    return {
        "events": EventsCheck(services.events.positions),
        "plugins": PluginTablesCheck(base.database, plugins.tables),
        "passwords": ImportedPasswordsCheck(base.database, tuple(base.selection.password_schemes)),
        "messages": MessagesCheck(services.get(MessageService), base.database),
        "jobs": JobsCheck(services.job_leases, jobs, base.clock),
        "login": LoginMethodsCheck(methods),
        "credentials": LostCredentialsCheck(base.database, methods),
        "scanning": ScannersCheck(services.get(Scanners), services.get(Rescans), base.clock),
        "search": NameIndexCheck(services.get(NameReindexing)),
        "users.restore_url": RestoringPageCheck(
            services.get(ChangeNotices), is_production=base.settings.is_production
        ),
        "users": UserIndexCheck(services.get(UserReindexing)),
        "pages.templates": TemplateCopiesCheck(template_copies(base.configuration, plugins.plugins)),
    }
