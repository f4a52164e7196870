"""Captchas, and codes by e-mail and SMS."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from strongroom.identity.verification.captchas import CaptchaService
from strongroom.identity.verification.codes import CodeService
from strongroom.web.feature import Feature, PruneStep, ServiceLookup

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint


class VerificationFeature(Feature):
    """Captchas and codes."""

    def register_blueprints(self) -> Iterable["Blueprint"]:
        from strongroom.identity.verification.views import blueprint

        return [blueprint]

    def register_prune_steps(self, services: ServiceLookup) -> Mapping[str, PruneStep]:
        return {
            "captchas": services(CaptchaService).prune,
            "verification codes": services(CodeService).prune,
        }
