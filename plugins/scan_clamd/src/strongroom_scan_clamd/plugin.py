"""The entry point of the plugin."""

from typing import Any

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.metrics import Metric
from strongroom.plugin_api.scanning import ContentScanner
from strongroom_scan_clamd.metrics import make_metrics
from strongroom_scan_clamd.scanner import ClamdScanner

API_VERSION = "2.0"


@hookimpl
def register_content_scanners() -> list[type[ContentScanner[Any]]]:
    return [ClamdScanner]


@hookimpl
def register_metrics(host: HostAPI) -> list[Metric]:
    return make_metrics(host)
