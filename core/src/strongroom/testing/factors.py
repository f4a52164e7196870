"""Contract tests for second factors."""

import base64
import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Any

import pytest

from strongroom.plugin_api.factors import (
    Ceremony,
    EnrolledFactor,
    Enrolment,
    FactorProof,
    FactorRejected,
    FactorUser,
    PasswordlessFactor,
    SecondFactor,
)
from strongroom.plugin_api.login import SINGLE_FACTOR

_HANDLE = base64.urlsafe_b64encode(hashlib.sha512(b"alice").digest()).rstrip(b"=").decode()
USER = FactorUser("01900000-0000-7000-8000-000000000001", "alice@example.com", "Alice", _HANDLE)

GARBAGE: Sequence[Any] = (
    None,
    "",
    "0",
    "x" * 1024,
    "\0",
    "验证码",
    "\uff11\uff12\uff13\uff14\uff15\uff16",
    7,
    -1.5,
    True,
    [],
    ["123456"],
    {},
    {"id": "x", "response": {}},
)
"""Answers of any form, all of them wrong."""


class Device(ABC):
    """The user's side of a factor: an app, a sheet of codes, a security key."""

    @abstractmethod
    def enrol(self, shown: dict[str, Any]) -> Any:
        """Return the right answer to an enrolment."""

    @abstractmethod
    def answer(self, shown: dict[str, Any], enrolled: dict[str, Any]) -> Any:
        """Return a right answer to a challenge that was not given before.

        Args:
            shown: the members of the challenge.
            enrolled: what the confirmed enrolment has shown.
        """


class SecondFactorContract:
    """The contract of second factors. Provide the fixtures ``factor`` and ``device``."""

    needs_answer = True
    """Whether a wrong answer to the enrolment is refused."""

    public_data: Collection[str] = ()
    """The names of members of the data that challenges show, because they are no secrets."""

    @pytest.fixture
    def factor(self) -> SecondFactor[Any]:
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def device(self) -> Device:
        """The user's device, which :meth:`Device.enrol` sets up."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    def test_a_right_answer_proves_an_enrolment(self, factor: SecondFactor[Any], device: Device) -> None:
        enrolled, shown = _enrolled(factor, device)
        proof = _prove(factor, device, enrolled, shown)
        assert proof is not None
        assert proof.enrolment_id == enrolled[0].id
        assert proof.assurance.amr

    def test_an_answer_counts_once(self, factor: SecondFactor[Any], device: Device) -> None:
        enrolled, shown = _enrolled(factor, device)
        ceremony = _stored(factor.begin_challenge(enrolled))
        answer = device.answer(dict(ceremony.shown), shown)
        proof = factor.verify(enrolled, ceremony, answer)
        assert proof is not None
        after = [EnrolledFactor(enrolled[0].id, _as_json(proof.data))]
        assert factor.verify(after, ceremony, answer) is None

    def test_the_next_answer_is_right_after_a_proof(
        self, factor: SecondFactor[Any], device: Device
    ) -> None:
        enrolled, shown = _enrolled(factor, device)
        for _ in range(3):
            proof = _prove(factor, device, enrolled, shown)
            assert proof is not None
            enrolled = [EnrolledFactor(proof.enrolment_id, _as_json(proof.data))]

    @pytest.mark.parametrize("answer", GARBAGE, ids=lambda answer: repr(answer)[:24])
    def test_anything_else_proves_nothing_and_breaks_nothing(
        self, factor: SecondFactor[Any], device: Device, answer: Any
    ) -> None:
        enrolled, _ = _enrolled(factor, device)
        assert factor.verify(enrolled, _stored(factor.begin_challenge(enrolled)), answer) is None

    @pytest.mark.parametrize("answer", GARBAGE, ids=lambda answer: repr(answer)[:24])
    def test_a_wrong_answer_enrols_nothing(self, factor: SecondFactor[Any], answer: Any) -> None:
        if not self.needs_answer:
            pytest.skip("the enrolment needs no answer")
        ceremony = _stored(factor.begin_enrolment(USER, ()))
        with pytest.raises(FactorRejected):
            factor.enrol(ceremony, answer)

    def test_the_answer_of_another_user_is_wrong(
        self, factor: SecondFactor[Any], device: Device
    ) -> None:
        enrolled, shown = _enrolled(factor, device)
        ceremony = _stored(factor.begin_challenge(enrolled))
        answer = device.answer(dict(ceremony.shown), shown)
        others, _ = _enrolled(factor, device)
        assert factor.verify(others, _stored(factor.begin_challenge(others)), answer) is None

    def test_secrets_are_neither_shown_again_nor_in_a_repr(
        self, factor: SecondFactor[Any], device: Device
    ) -> None:
        enrolled, _ = _enrolled(factor, device)
        ceremony = factor.begin_challenge(enrolled)
        seen = json.dumps(ceremony.shown) + repr(ceremony) + repr(enrolled)
        kept = {key: value for key, value in enrolled[0].data.items() if key not in self.public_data}
        assert [text for text in _texts(kept) if len(text) > 8 and text in seen] == []


class PasswordlessFactorContract(SecondFactorContract):
    """The contract of factors that can replace the first proof. Provide the same fixtures."""

    def test_an_answer_to_a_login_names_and_proves_its_enrolment(
        self, factor: PasswordlessFactor[Any], device: Device
    ) -> None:
        enrolment, enrolled, shown = _enrolment(factor, device)
        ceremony, answer = _first(factor, device, shown)
        assert enrolment.handle
        assert factor.get_handle(answer) == enrolment.handle
        proof = factor.verify(enrolled, ceremony, answer)
        assert proof is not None
        assert proof.assurance.acr != SINGLE_FACTOR

    def test_an_answer_to_a_login_counts_once(
        self, factor: PasswordlessFactor[Any], device: Device
    ) -> None:
        _, enrolled, shown = _enrolment(factor, device)
        ceremony, answer = _first(factor, device, shown)
        proof = factor.verify(enrolled, ceremony, answer)
        assert proof is not None
        after = [EnrolledFactor(enrolled[0].id, _as_json(proof.data))]
        assert factor.verify(after, ceremony, answer) is None
        assert factor.verify(enrolled, _first(factor, device, shown)[0], answer) is None

    @pytest.mark.parametrize("answer", GARBAGE, ids=lambda answer: repr(answer)[:24])
    def test_anything_else_names_nothing_and_breaks_nothing(
        self, factor: PasswordlessFactor[Any], device: Device, answer: Any
    ) -> None:
        enrolment, enrolled, _ = _enrolment(factor, device)
        assert factor.get_handle(answer) != enrolment.handle
        ceremony = factor.begin_login()
        assert ceremony is not None
        assert factor.verify(enrolled, _stored(ceremony), answer) is None


def _first(
    factor: PasswordlessFactor[Any], device: Device, shown: dict[str, Any]
) -> tuple[Ceremony, Any]:
    ceremony = factor.begin_login()
    assert ceremony is not None
    return _stored(ceremony), device.answer(dict(ceremony.shown), shown)


def _enrolled(factor: SecondFactor[Any], device: Device) -> tuple[list[EnrolledFactor], dict[str, Any]]:
    _, enrolled, shown = _enrolment(factor, device)
    return enrolled, shown


def _enrolment(
    factor: SecondFactor[Any], device: Device
) -> tuple[Enrolment, list[EnrolledFactor], dict[str, Any]]:
    ceremony = factor.begin_enrolment(USER, ())
    answer = device.enrol(dict(ceremony.shown))
    enrolment: Enrolment = factor.enrol(_stored(ceremony), answer)
    enrolled = [EnrolledFactor("enrolment", _as_json(enrolment.data))]
    return enrolment, enrolled, _as_json(enrolment.shown)


def _prove(
    factor: SecondFactor[Any],
    device: Device,
    enrolled: list[EnrolledFactor],
    shown: dict[str, Any],
) -> FactorProof | None:
    ceremony = _stored(factor.begin_challenge(enrolled))
    return factor.verify(enrolled, ceremony, device.answer(dict(ceremony.shown), shown))


def _stored(ceremony: Ceremony) -> Ceremony:
    # As the core stores it: JSON, in another process.
    return Ceremony(_as_json(ceremony.shown), _as_json(ceremony.state))


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(dict(value)))


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in items for text in _texts(item)]
