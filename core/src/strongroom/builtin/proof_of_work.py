"""A captcha that a browser solves without its user: proof of work in ALTCHA's format (version 1)."""

import secrets
from dataclasses import dataclass
from typing import Any

from strongroom.plugin_api import hookimpl, option
from strongroom.plugin_api.captcha import CaptchaChallenge, CaptchaProvider
from strongroom.plugin_api.forms import CaptchaWidget
from strongroom.plugin_api.pages import StaticFiles

API_VERSION = "2.0"


@dataclass(frozen=True, slots=True)
class ProofOfWorkOptions:
    """The keys of ``[captcha]`` with ``provider = "proof_of_work"``."""

    max_number: int = option(
        100_000,
        minimum=1000,
        maximum=10_000_000,
        help="Maximum number of hashes that a solution takes.",
        advanced=True,
    )


class ProofOfWork(CaptchaProvider[ProofOfWorkOptions]):
    """Requires the number that has a given hash.

    Each challenge is signed with its own key, so that a solution is valid only for that challenge.
    """

    name = "proof_of_work"
    kind = "proof-of-work"
    options_type = ProofOfWorkOptions
    widget = CaptchaWidget(template="proof_of_work.html", script="proof_of_work.js", is_automatic=True)

    def issue(self) -> CaptchaChallenge:
        # Imported lazily, because deployments with another provider do not need it.
        from altcha.v1 import ChallengeOptions, create_challenge

        key = secrets.token_hex(32)
        challenge = create_challenge(ChallengeOptions(max_number=self.options.max_number, hmac_key=key))
        payload = {
            "algorithm": challenge.algorithm,
            "challenge": challenge.challenge,
            "salt": challenge.salt,
            "signature": challenge.signature,
            "maxnumber": challenge.max_number,
        }
        return CaptchaChallenge(payload=payload, state=key)

    def verify(self, state: str, answer: str) -> bool:
        from altcha.v1 import verify_solution

        try:
            # The core checks the expiry, with its own clock.
            is_right, _ = verify_solution(answer, state, check_expires=False)
        # The library does not validate the structure of the client's JSON.
        except (AttributeError, TypeError, ValueError):
            return False
        return is_right


@hookimpl
def register_captcha_providers() -> list[type[CaptchaProvider[Any]]]:
    return [ProofOfWork]


@hookimpl
def register_static_files() -> list[StaticFiles]:
    return [StaticFiles()]
