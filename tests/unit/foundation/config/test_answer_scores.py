"""How good the answers to wrong configurations are, by a rubric of three points."""

from pathlib import Path

import pytest
from tests.support.answer_scores import score
from tests.support.config import change_config
from tests.support.production import fault
from tests.support.wrong_configurations import BAD_VALUES, MISSPELT, MISTAKES, UNSAFE

MIN_CASES = 92
MIN_MEAN = 2.9


@pytest.fixture
def answers(config: Path) -> list[str]:
    """Return the answers to all cases, each with a fresh copy of a right configuration."""
    text, folder = config.read_text(), str(config.parent)
    results = []
    for right, wrong, _ in (*MISSPELT, *BAD_VALUES, *UNSAFE):
        changed = text.replace(right.replace("DIR", folder), wrong.replace("DIR", folder), 1)
        config.write_text(changed)
        results.append(fault(config))
    for change, _, _ in MISTAKES:
        config.write_text(text)
        change_config(config, change)
        config.chmod(0o600)
        results.append(fault(config))
    return results


def test_the_answers_to_wrong_configurations_score_at_least_2_9_of_3(answers: list[str]) -> None:
    scores = {answer: score(answer) for answer in answers}
    assert len(answers) >= MIN_CASES
    mean = sum(map(score, answers)) / len(answers)
    weak = [answer for answer, points in scores.items() if points < 3]
    assert mean >= MIN_MEAN, "\n".join(weak)


@pytest.mark.parametrize(
    ("answer", "points"),
    [
        ("DIR/strongroom.toml:2: server.port: must be from 0 to 65535", 3),
        ("DIR/strongroom.toml:2: server.port: is not valid", 2),
        ("DIR/strongroom.toml:2: server.port: 70000", 1),
        ("DIR/strongroom.toml: is not TOML: line 1", 1),
        ("something went wrong", 0),
    ],
)
def test_the_rubric_takes_points_off(answer: str, points: int) -> None:
    assert score(answer) == points
