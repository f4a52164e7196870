"""Users of the REST API with passkeys."""

from typing import Any

from strongroom_simulators.passkeys.authenticator import NO_FAULTS, Faults, SoftwareAuthenticator
from tests.support.api import Answer, Api, Json, Person, error_code
from tests.support.config import Table

ORIGIN = "https://files.example.com"
"""The origin of the pages of the server that tests run."""

PASSKEYS: Table = {"plugins": {"enabled": ["storage_local", "login_passkey"]}}


def begin(api: Api, person: Person, name: str = "Phone") -> Json:
    """Begin the enrolment of a passkey."""
    begun = api.post("/users/me/factors", {"kind": "passkey", "name": name}, by=person)
    assert begun.status_code == 201, begun.text
    enrolment: Json = begun.json
    return enrolment


def confirm(api: Api, person: Person, enrolment: Json, answer: Any) -> Answer:
    """Finish an enrolment."""
    path = f"/users/me/factors/{enrolment['id']}/confirmation"
    return api.post(path, {"answer": answer}, by=person)


def enrol(
    api: Api, person: Person, device: SoftwareAuthenticator | None = None, name: str = "Phone"
) -> SoftwareAuthenticator:
    """Enrol a passkey, log in by it, and return the device with it."""
    device = device or SoftwareAuthenticator(ORIGIN)
    enrolment = begin(api, person, name)
    confirmed = confirm(api, person, enrolment, device.create(enrolment["shown"]["publicKey"]))
    assert confirmed.status_code == 201, confirmed.text
    person.token = log_in(api, device).json["accessToken"]
    return device


def new_challenge(api: Api, username: str | None = None, **options: Any) -> Json:
    """Begin a login by a passkey alone."""
    body = {} if username is None else {"username": username}
    issued = api.post("/authorizations/challenges", body, **options)
    assert issued.status_code == 201, issued.text
    challenge: Json = issued.json["challenge"]
    return challenge


def meet(api: Api, challenge: Json, answer: Any, **options: Any) -> Answer:
    """Answer a challenge of a login."""
    body = {"challenge": {"id": challenge["id"], "passkey": answer}}
    return api.post("/authorizations", body, **options)


def log_in(
    api: Api, device: SoftwareAuthenticator, faults: Faults = NO_FAULTS, username: str | None = None
) -> Answer:
    """Log in by a passkey alone."""
    challenge = new_challenge(api, username)
    return meet(api, challenge, device.get(challenge["publicKey"], faults))


def challenged(answer: Answer) -> Json:
    """Return the challenge of a response that requires a second factor."""
    assert (answer.status_code, error_code(answer)) == (401, "error.second-factor-required")
    challenge: Json = answer.json["challenge"]
    return challenge
