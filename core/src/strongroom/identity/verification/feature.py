"""Captchas, and codes by e-mail and SMS."""

from strongroom.web.feature import Feature


class VerificationFeature(Feature):
    """Captchas and codes."""

    blueprints = ("views:blueprint",)
    services = "services:VerificationServices"
