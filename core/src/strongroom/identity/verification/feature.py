"""Captchas, and codes by e-mail and SMS."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from strongroom.web.feature import Feature

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint


class VerificationFeature(Feature):
    """Captchas and codes."""

    def register_blueprints(self) -> Iterable["Blueprint"]:
        from strongroom.identity.verification.views import blueprint

        return [blueprint]
