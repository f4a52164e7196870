"""Second factors on two server processes with one database: what counts once counts once on both."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count, cycle
from pathlib import Path
from typing import Any

import pyotp
import pytest

from strongroom.identity.sessions.factor_challenges import TRIES
from strongroom.identity.sessions.factor_verification import DAILY_TRIES
from tests.support.campaign import campaign_size
from tests.support.config import FIXED_CAPTCHA, Table, lifted
from tests.support.http import Caller, Reply, at_once
from tests.support.server import Server, serving_nodes

pytestmark = pytest.mark.extended

ROUNDS = campaign_size("FACTOR_ROUNDS", 2)
WAYS = 32
PASSWORD = "Correct1Horse"
FACTORS: Table = {"plugins": {"enabled": ["storage_local", "factor_totp"]}}
STEP_UP = "/authorizations/current/step-up"
_numbers = count()


@dataclass
class Person:
    """A user with a second factor."""

    name: str
    token: str
    secret: str

    def code(self, steps: int) -> str:
        """Return the code of some steps from now; each step counts once.

        Not of the step before this one, because it is refused once the next step begins.
        """
        return pyotp.TOTP(self.secret).generate_otp(int(time.time()) // 30 + steps)


class Nodes:
    """Two nodes; the requests alternate between them."""

    def __init__(self, servers: tuple[Server, Server]) -> None:
        self._root = servers[0]
        self._callers = cycle([Caller(server.url) for server in servers])

    def send(self, path: str, body: Any, token: str | None = None) -> Reply:
        caller = next(self._callers)
        caller = caller if token is None else caller.bearing(token)
        return caller.send("POST", path, body)

    def race(self, path: str, bodies: list[Any], token: str | None = None) -> list[Reply]:
        """Send all bodies at one moment, half of them to each node."""
        senders: list[Callable[[], Reply]] = []
        for body in bodies:
            caller = next(self._callers)
            caller = caller if token is None else caller.bearing(token)
            senders.append(partial(caller.send, "POST", path, body))
        return at_once(senders)

    def person(self) -> Person:
        """Register a user with an authenticator app, whose code of this step is used up."""
        name = f"user{next(_numbers)}"
        captcha = {"id": self.send("/captchas", {}).json["id"], "answer": "42"}
        body = {"name": name, "username": name, "password": PASSWORD, "captcha": captcha}
        made = self.send("/users", body)
        assert made.status == 201, made
        token = self.log_in(name).json["accessToken"]
        begun = self.send("/users/me/factors", {"kind": "totp"}, token).json
        person = Person(name, token, begun["shown"]["secret"])
        path = f"/users/me/factors/{begun['id']}/confirmation"
        confirmed = self.send(path, {"answer": person.code(0)}, token)
        assert confirmed.status == 201, confirmed
        return person

    def log_in(self, name: str) -> Reply:
        return self.send("/authorizations", {"username": name, "password": PASSWORD})

    def challenge(self, person: Person) -> str:
        """Return the id of a challenge that stands for a right password."""
        reply = self.log_in(person.name)
        assert reply.status == 401, reply
        return str(reply.json["challenge"]["id"])

    def step_up_challenges(self, person: Person) -> list[str]:
        """Return challenges of one login, as many as there are ways."""
        replies = (self.send(STEP_UP, {}, person.token) for _ in range(WAYS))
        return [reply.json["challenge"]["id"] for reply in replies]

    def recovery_codes(self, person: Person) -> list[str]:
        begun = self.send("/users/me/factors", {"kind": "recovery-code"}, person.token)
        path = f"/users/me/factors/{begun.json['id']}/confirmation"
        codes: list[str] = self.send(path, {}, person.token).json["shown"]["recoveryCodes"]
        return codes


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory, shared_database_url: str) -> Iterator[Nodes]:
    folder = tmp_path_factory.mktemp("nodes")
    with serving_nodes(folder, shared_database_url, FACTORS, FIXED_CAPTCHA, lifted()) as servers:
        yield Nodes(servers)


def outcomes(replies: list[Reply]) -> Counter[str]:
    """Count the answers by the code of their error, or ``200``."""
    return Counter("200" if reply.status == 200 else reply.json["error"]["code"] for reply in replies)


def answer(challenge: str, **members: str) -> Any:
    return {"challenge": {"id": challenge, **members}}


def test_of_many_answers_to_a_challenge_one_logs_in(nodes: Nodes) -> None:
    for _ in range(ROUNDS):
        person = nodes.person()
        body = answer(nodes.challenge(person), totp=person.code(1))
        found = outcomes(nodes.race("/authorizations", [body] * WAYS))
        assert found.pop("200") == 1, found
        assert set(found) <= {"error.challenge-invalid", "error.invalid-credentials"}
        assert found["error.invalid-credentials"] < TRIES


def test_a_step_of_an_app_counts_for_one_of_many_challenges(nodes: Nodes) -> None:
    for _ in range(ROUNDS):
        person = nodes.person()
        challenges = nodes.step_up_challenges(person)
        code = person.code(1)
        bodies = [answer(challenge, totp=code) for challenge in challenges]
        found = outcomes(nodes.race(STEP_UP, bodies, person.token))
        assert found.pop("200") == 1, found
        assert found["error.invalid-credentials"] <= DAILY_TRIES
        assert set(found) <= {"error.invalid-credentials", "error.too-many-requests"}


def test_a_recovery_code_counts_for_one_of_many_challenges(nodes: Nodes) -> None:
    for _ in range(ROUNDS):
        person = nodes.person()
        code = nodes.recovery_codes(person)[0]
        bodies = [answer(each, recoveryCode=code) for each in nodes.step_up_challenges(person)]
        found = outcomes(nodes.race(STEP_UP, bodies, person.token))
        assert found.pop("200") == 1, found
        assert set(found) <= {"error.invalid-credentials", "error.too-many-requests"}


def test_parallel_guesses_beat_neither_budget(nodes: Nodes) -> None:
    person = nodes.person()
    body = answer(nodes.challenge(person), totp="000000")
    found = outcomes(nodes.race("/authorizations", [body] * WAYS))
    assert found == {"error.invalid-credentials": TRIES, "error.challenge-invalid": WAYS - TRIES}
    # New challenges bring no tries that the account does not have any more.
    bodies = [answer(each, totp="000000") for each in nodes.step_up_challenges(person)]
    found = outcomes(nodes.race(STEP_UP, bodies, person.token))
    left = DAILY_TRIES - TRIES
    assert found == {"error.invalid-credentials": left, "error.too-many-requests": WAYS - left}
    right = nodes.send("/authorizations", answer(nodes.challenge(person), totp=person.code(1)))
    assert right.status == 429


def test_strangers_use_up_no_tries(nodes: Nodes) -> None:
    person, stranger = nodes.person(), nodes.person()
    guessed = [answer("x" * 42 + "AEIMQUYcgkosw048"[way % 16], totp="000000") for way in range(WAYS)]
    assert outcomes(nodes.race("/authorizations", guessed)) == {"error.challenge-invalid": WAYS}
    # A challenge of another user, answered with the code of this one.
    foreign = answer(nodes.challenge(stranger), totp=person.code(1))
    nodes.race("/authorizations", [foreign] * WAYS)
    wrong = {"username": person.name, "password": "Wrong1Horse"}
    nodes.race("/authorizations", [wrong] * 2)
    right = nodes.send("/authorizations", answer(nodes.challenge(person), totp=person.code(1)))
    assert right.status == 200, right


class TestRequired:
    """Factors that users must have, on two nodes."""

    @pytest.fixture
    def nodes(self, tmp_path: Path, database_url: str) -> Iterator[Nodes]:
        policy: Table = {"second_factors": {"required_for": ["all"]}}
        changes = (FACTORS, FIXED_CAPTCHA, lifted(), policy)
        with serving_nodes(tmp_path, database_url, *changes) as servers:
            yield Nodes(servers)

    @pytest.mark.parametrize("is_shared", [True, False], ids=["one permission", "many"])
    def test_of_many_enrolments_one_succeeds(self, nodes: Nodes, is_shared: bool) -> None:
        for _ in range(ROUNDS):
            name = f"user{next(_numbers)}"
            captcha = {"id": nodes.send("/captchas", {}).json["id"], "answer": "42"}
            body = {"name": name, "username": name, "password": PASSWORD, "captcha": captcha}
            assert nodes.send("/users", body).status == 201
            permission = nodes.log_in(name).json["enrolment"]["id"]
            bodies = []
            for _ in range(8):
                if not is_shared:
                    permission = nodes.log_in(name).json["enrolment"]["id"]
                wanted = {"id": permission, "kind": "totp"}
                begun = nodes.send("/authorizations/enrolments", wanted).json
                code = Person(name, "", begun["shown"]["secret"]).code(0)
                bodies.append({"id": permission, "enrolmentId": begun["id"], "answer": code})
            replies = nodes.race("/authorizations/enrolments/confirmation", bodies)
            found = outcomes(replies)
            assert found == {"200": 1, "error.challenge-invalid": 7}
            assert nodes.log_in(name).json["error"]["code"] == "error.second-factor-required"
