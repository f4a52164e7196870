"""The factor: passkeys as the only proof of a login, and after another one."""

import secrets
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from strongroom.plugin_api.factors import (
    Ceremony,
    EnrolledFactor,
    Enrolment,
    FactorAlarm,
    FactorProof,
    FactorRejected,
    FactorUser,
    PasswordlessFactor,
    Site,
)
from strongroom.plugin_api.forms import FactorForm
from strongroom.plugin_api.login import (
    PHISHING_RESISTANT,
    PHISHING_RESISTANT_HARDWARE,
    Assurance,
)
from strongroom_login_passkey.options import PasskeyOptions, RelyingParty

if TYPE_CHECKING:
    from strongroom_login_passkey.ceremonies import Passkey

COUNTER_REGRESSED: Final = "counter-regressed"

CHALLENGE_BYTES: Final = 32


class PasskeyFactor(PasswordlessFactor[PasskeyOptions]):
    """Passkeys (WebAuthn) that are discoverable and verify their user.

    The ceremonies are imported on demand, because they load much that most processes do not need.
    """

    name = "passkey"
    may_repeat = True
    options_type = PasskeyOptions
    form = FactorForm(
        label={"en": "Passkey", "zh": "通行密钥"},
        hint={
            "en": "Log in with the screen lock of a device or with a security key: no password, nothing"
            " to type.",
            "zh": "用设备的屏幕锁或安全密钥登录，无需输入密码。",
        },
        add={"en": "Add a passkey", "zh": "添加通行密钥"},
        template="passkey.html",
        script="passkey.js",
        is_json=True,
    )

    def __init__(self, options: PasskeyOptions, site: Site) -> None:
        super().__init__(options, site)
        self.party = RelyingParty.of(options, site.public_url)

    @classmethod
    def fits(cls, options: PasskeyOptions, site: Site) -> bool:
        try:
            RelyingParty.of(options, site.public_url)
        except ValueError:
            return False
        return True

    def begin_enrolment(self, user: FactorUser, enrolled: Sequence[EnrolledFactor], /) -> Ceremony:
        from strongroom_login_passkey import ceremonies

        challenge = secrets.token_bytes(CHALLENGE_BYTES)
        options = ceremonies.creation_options(
            self.party, challenge, user.handle, user.account, user.name, _passkeys(enrolled)
        )
        state = {"challenge": options["challenge"], "user": user.handle}
        return Ceremony({"publicKey": options}, state)

    def enrol(self, ceremony: Ceremony, answer: Any, /) -> Enrolment:
        from strongroom_login_passkey import ceremonies

        state = ceremony.state
        try:
            passkey = ceremonies.register(self.party, state["challenge"], state["user"], answer)
        except ceremonies.Refused as error:
            message = f"Must be the JSON of the created credential; this one {error}."
            raise FactorRejected(message) from error
        return Enrolment(asdict(passkey), handle=passkey.id)

    def begin_challenge(self, enrolled: Sequence[EnrolledFactor], /) -> Ceremony:
        return self._begin(_passkeys(enrolled))

    def begin_login(self) -> Ceremony | None:
        return self._begin([]) if self.options.passwordless else None

    def get_handle(self, answer: Any, /) -> str | None:
        identifier = answer.get("id") if isinstance(answer, dict) else None
        return identifier if isinstance(identifier, str) else None

    def verify(
        self, enrolled: Sequence[EnrolledFactor], ceremony: Ceremony, answer: Any, /
    ) -> FactorProof | None:
        from strongroom_login_passkey import ceremonies

        identifier, allowed = self.get_handle(answer), ceremony.state["allowed"]
        enrolment = next((each for each in enrolled if each.data["id"] == identifier), None)
        if enrolment is None or (allowed and identifier not in allowed):
            return None
        try:
            passkey = ceremonies.authenticate(
                self.party,
                ceremony.state["challenge"],
                _passkey(enrolment),
                answer,
                is_discovered=not allowed,
            )
        except ceremonies.Refused:
            return None
        except ceremonies.CounterRegressed as error:
            raise FactorAlarm(COUNTER_REGRESSED) from error
        return FactorProof(enrolment.id, _assurance(passkey), asdict(passkey))

    def summary(self, user: FactorUser, enrolled: Sequence[EnrolledFactor], /) -> dict[str, Any]:
        """Return what the signal methods of ``PublicKeyCredential`` need (WebAuthn Level 3, 5.1.10)."""
        return {
            "rpId": self.party.id,
            "userId": user.handle,
            "name": user.account,
            "displayName": user.name or user.account,
            "allAcceptedCredentialIds": [each.data["id"] for each in enrolled],
            "credentialIds": {each.id: each.data["id"] for each in enrolled},
        }

    def _begin(self, allowed: "Sequence[Passkey]") -> Ceremony:
        from strongroom_login_passkey import ceremonies

        challenge = secrets.token_bytes(CHALLENGE_BYTES)
        options = ceremonies.request_options(self.party, challenge, allowed)
        ids = [passkey.id for passkey in allowed]
        return Ceremony({"publicKey": options}, {"challenge": options["challenge"], "allowed": ids})


def _assurance(passkey: "Passkey") -> Assurance:
    is_hardware = passkey.is_attested and not passkey.is_synced
    acr = PHISHING_RESISTANT_HARDWARE if is_hardware else PHISHING_RESISTANT
    return Assurance(("swk" if passkey.is_synced else "hwk", "user"), acr)


def _passkeys(enrolled: Sequence[EnrolledFactor]) -> "list[Passkey]":
    return [_passkey(each) for each in enrolled]


def _passkey(enrolled: EnrolledFactor) -> "Passkey":
    from strongroom_login_passkey.ceremonies import Passkey

    data = dict(enrolled.data)
    return Passkey(**{**data, "transports": tuple(data["transports"])})
