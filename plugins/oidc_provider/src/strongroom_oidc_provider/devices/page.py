"""The page on which a user lets a device log in."""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from flask import request

from strongroom.plugin_api.browser import BrowserSession
from strongroom.plugin_api.host import HostAPI
from strongroom_oidc_provider.clients.brands import Brands
from strongroom_oidc_provider.clients.clients import Clients
from strongroom_oidc_provider.consents.consents import Consents
from strongroom_oidc_provider.devices.devices import Devices
from strongroom_oidc_provider.logins.pages import CardVisit, split_scopes
from strongroom_oidc_provider.logins.parked import ParkedRequests
from strongroom_oidc_provider.models import Client, Device

PATH: Final = "/device"
_ATTEMPTS: Final = 5
_WINDOW: Final = 60
_MAX_CODE: Final = 32
_ALLOWED: Final = ("device-allowed", "device-allowed-hint")
_REFUSED: Final = ("device-refused", "device-refused-hint")


@dataclass(slots=True, eq=False, repr=False)
class DevicePage:
    """Asks for the code, shows the device, and asks for the decision."""

    _host: HostAPI

    def show(self) -> Any:
        """Return the page that asks for the code; a link fills it in, and decides nothing."""
        self._host.browser.require_session()
        return self._ask(request.args.get("user_code", "")[:_MAX_CODE])

    def answer(self) -> Any:
        """Return the page of the device whose code the user has entered, or of the decision."""
        session = self._host.browser.require_session()
        self._host.browser.require_csrf()
        if "decision" in request.form:
            return self._decide(session)
        code = request.form.get("user_code", "")[:_MAX_CODE]
        network = self._host.limits.client_network
        # Counted first, so that parallel guesses cannot exceed the limit.
        counted = [(network, _ATTEMPTS), (session.user_id, _ATTEMPTS)]
        if not self._host.limits.count_attempt("device", counted, seconds=_WINDOW):
            return self._ask(code, "device-attempts", 429)
        device = self._host.get_service(Devices).find(code)
        client = None if device is None else self._host.get_service(Clients).find(device.client_id)
        if device is None or client is None:
            return self._ask(code, "device-unknown", 400)
        self._host.limits.forgive_attempt("device", [network, session.user_id])
        return self._confirm(device, client, session)

    def _ask(self, code: str, fault: str = "", status: int = 200) -> Any:
        return CardVisit(self._host).page(
            "device.html", status=status, code=code, fault=fault, action=self._action
        )

    def _confirm(self, device: Device, client: Client, session: BrowserSession) -> Any:
        sealed = {"device": device.hash, "user": session.user_id}
        scopes, others = split_scopes(device.scopes)
        return CardVisit(self._host).page(
            "device_consent.html",
            client=client.name,
            page_brand=self._host.get_service(Brands).get_brand(client),
            device=device,
            user=session.name or session.contact,
            scopes=scopes,
            others=others,
            request=self._parked.seal(sealed, self._host.clock.now()),
            action=self._action,
        )

    def _decide(self, session: BrowserSession) -> Any:
        unsealed = self._parked.unseal(request.form.get("request", ""))
        sealed = {} if unsealed is None else unsealed[0]
        is_allowed = request.form["decision"] == "allow"
        device = None
        if sealed.get("user") == session.user_id and "device" in sealed:
            devices = self._host.get_service(Devices)
            device = devices.decide(sealed["device"], session, is_allowed=is_allowed)
        if device is None:
            return self._ask("", "device-unknown", 400)
        if is_allowed:
            self._give(session, device)
        texts = _ALLOWED if is_allowed else _REFUSED
        return CardVisit(self._host).page("device_done.html", done=texts[0], hint=texts[1])

    def _give(self, session: BrowserSession, device: Device) -> None:
        client = self._host.get_service(Clients).find(device.client_id)
        self._host.get_service(Consents).give(
            session.user_id,
            device.client_id,
            device.resource,
            device.scopes,
            None,
            name=client.name if client else None,
        )

    @property
    def _action(self) -> str:
        return f"{urlsplit(self._host.public_url).path.rstrip('/')}{PATH}"

    @property
    def _parked(self) -> ParkedRequests:
        return self._host.get_service(ParkedRequests)
