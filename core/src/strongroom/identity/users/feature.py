"""Users, and the values that plugins keep for them."""

from strongroom.web.feature import Feature


class UsersFeature(Feature):
    """Users."""

    services = "services:UserServices"
