"""Users, and the values that plugins keep for them."""

from collections.abc import Iterable

from strongroom.identity.users.plugin_values import PluginValues
from strongroom.web.feature import Feature, ServiceLookup, UserEraser


class UsersFeature(Feature):
    """Users."""

    services = "services:UserServices"

    def register_user_erasers(self, services: ServiceLookup) -> Iterable[UserEraser]:
        return [services(PluginValues).remove_all]
