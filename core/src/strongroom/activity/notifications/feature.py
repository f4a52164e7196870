"""Messages to users by e-mail and SMS."""

from strongroom.web.feature import Feature


class NotificationsFeature(Feature):
    """Messages to users."""

    services = "services:NotificationServices"
