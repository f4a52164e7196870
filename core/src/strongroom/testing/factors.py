"""Contract tests for second factors."""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import pytest

from strongroom.plugin_api.factors import (
    Ceremony,
    EnrolledFactor,
    Enrolment,
    FactorProof,
    FactorRejected,
    FactorUser,
    SecondFactor,
)

USER = FactorUser("01900000-0000-7000-8000-000000000001", "alice@example.com", "Alice")

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
        assert [text for text in _texts(enrolled[0].data) if len(text) > 8 and text in seen] == []


def _enrolled(factor: SecondFactor[Any], device: Device) -> tuple[list[EnrolledFactor], dict[str, Any]]:
    ceremony = factor.begin_enrolment(USER, ())
    answer = device.enrol(dict(ceremony.shown))
    enrolment: Enrolment = factor.enrol(_stored(ceremony), answer)
    return [EnrolledFactor("enrolment", _as_json(enrolment.data))], _as_json(enrolment.shown)


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
