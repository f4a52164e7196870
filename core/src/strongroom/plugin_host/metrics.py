"""The metrics that plugins register."""

from collections.abc import Mapping

from strongroom.plugin_api.metrics import Metric
from strongroom.plugin_host.hosts import PluginHosts
from strongroom.plugins.manager import PluginError


def registered_metrics(hosts: PluginHosts) -> Mapping[str, Metric]:
    """Return the metrics of all plugins by their names, such as ``strongroom_acme_imports``.

    Raises:
        PluginError: a plugin raised, or returned something else, or two metrics have the same name.
    """
    metrics: dict[str, Metric] = {}
    for plugin, item in hosts.call("register_metrics"):
        if not isinstance(item, Metric):
            raise PluginError(f"{plugin} returned {item!r} from register_metrics; expected a Metric")
        name = f"strongroom_{plugin.name}_{item.name}"
        if name in metrics:
            raise PluginError(f"{plugin}: another metric has the name {name}")
        metrics[name] = item
    return metrics
