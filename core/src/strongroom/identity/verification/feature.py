"""Captchas, and codes by e-mail and SMS."""

from collections.abc import Mapping

from strongroom.identity.verification.captchas import CaptchaService
from strongroom.identity.verification.codes import CodeService
from strongroom.web.feature import Feature, PruneStep, ServiceLookup


class VerificationFeature(Feature):
    """Captchas and codes."""

    blueprints = ("views:blueprint",)
    services = "services:VerificationServices"

    def register_prune_steps(self, services: ServiceLookup) -> Mapping[str, PruneStep]:
        return {
            "captchas": services(CaptchaService).prune,
            "verification codes": services(CodeService).prune,
        }
