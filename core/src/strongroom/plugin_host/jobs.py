"""The jobs that plugins register."""

from collections.abc import Mapping

from strongroom.plugin_api.jobs import Job
from strongroom.plugin_host.hosts import PluginHosts
from strongroom.plugins.manager import PluginError


def registered_jobs(hosts: PluginHosts, core: Mapping[str, Job]) -> dict[str, Job]:
    """Return the jobs of the core and of all plugins by their names, such as ``acme.prune``.

    Raises:
        PluginError: a plugin raised, or returned something else, or two jobs of the same name.
    """
    jobs = dict(core)
    for plugin, item in hosts.call("register_jobs"):
        if not isinstance(item, Job):
            raise PluginError(f"{plugin} returned {item!r} from register_jobs; expected a Job")
        name = f"{plugin.name}.{item.name}"
        if name in jobs:
            raise PluginError(f'{plugin} has a second job of the name "{name}"')
        jobs[name] = item
    return jobs
