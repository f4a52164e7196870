"""Implements ``host.limits``."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongroom.foundation import errors
from strongroom.foundation.addresses import get_network
from strongroom.foundation.config.rates import Rate
from strongroom.foundation.limits.service import Allowance
from strongroom.identity.verification.captchas import CaptchaAnswer, CaptchaService
from strongroom.plugin_api.limits import LimitsAPI
from strongroom.web.http.request import client

if TYPE_CHECKING:
    from strongroom.assembly.services import Services


@dataclass(slots=True, eq=False, repr=False)
class HostLimits(LimitsAPI):
    """Implements ``host.limits``.

    Args:
        services: returns the services of the process.
    """

    _plugin: str
    _services: Callable[[], "Services"]

    def check_rate(self, name: str, rates: Sequence[str], subject: str | None = None) -> None:
        counted = Allowance(
            f"plugin:{self._plugin}:{name}",
            self.client_network if subject is None else subject,
            [Rate.parse(text) for text in rates],
        )
        self._services().base.rates.spend(counted)

    def count_attempt(self, name: str, limits: Sequence[tuple[str, int]], *, seconds: int) -> bool:
        base, purpose = self._services().base, f"plugin:{self._plugin}:{name}"
        # Sorted, so that two transactions lock the counters in the same order.
        with base.database.write(durable=False) as connection:
            counts = [
                (base.counters.add_within(connection, purpose, subject, window=seconds * 1000), most)
                for subject, most in sorted(limits)
            ]
            if all(count.events <= most for count, most in counts):
                return True
            # Attempts that are not evaluated do not count, or they would fill other subjects' limits.
            connection.rollback()
            return False

    def forgive_attempt(self, name: str, subjects: Sequence[str]) -> None:
        base, purpose = self._services().base, f"plugin:{self._plugin}:{name}"
        with base.database.write(durable=False) as connection:
            for subject in sorted(subjects):
                base.counters.take_back(connection, purpose, subject)

    @property
    def client_network(self) -> str:
        return get_network(client().address)

    def require_captcha(self, captcha: Mapping[str, str] | None) -> None:
        if captcha is None:
            raise errors.CaptchaRequired
        answer = CaptchaAnswer(captcha["id"], captcha["answer"])
        self._services().get(CaptchaService).consume(answer, client().address)
