"""How good the answers to wrong configurations are, by a rubric of three points.

An answer has one point if it names the key or the variable, one if it says what is wrong with it, and
one if it says what would be right. The rubric knows the forms of answers; a new form is
added here.
"""

import re
from pathlib import Path

import pytest
from tests.support.config import change_config
from tests.support.production import fault
from tests.support.wrong_configurations import BAD_VALUES, MISSPELT, MISTAKES, UNSAFE

MIN_CASES = 92
MIN_MEAN = 2.9

KEY = re.compile(r"^(environment \w+|(DIR/strongroom\.toml:\d+: )?[a-z0-9_]+(\.[A-Za-z0-9_]+)*): ")
WRONG = re.compile(
    r"unknown key|must |is (not|no|required|enabled twice|for development only|a published|the sample)"
    r"|does not|no enabled|there is no|cannot|can be read|has (host bits|an invalid)|names no|trusts"
    r"|holds a|wraps|is \"|needs|has no|is set|no user could|FLASK_DEBUG|requires"
)
RIGHT = re.compile(
    r"must (be (from|at least|at most|one of|like|a |an |true|set together|set in)|begin|consist|end)"
    r"|did you mean|known here|such as"
    r"|(set|add|list|write|name|run|use|enable|remove|unset|correct|move|see)[ :]"
    r"|is required: |it serves: |production needs|its port has its own key|sends none"
)


def score(answer: str) -> int:
    """Return the points of an answer, 0 to 3."""
    place = KEY.match(answer)
    message = answer[place.end() :] if place else answer
    return sum(map(bool, (place, WRONG.search(message), RIGHT.search(message))))


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
