"""How good an answer to a wrong configuration is, by a rubric of three points.

An answer has one point if it names the key or the variable, one if it says what is wrong with it, and
one if it says what would be right. The rubric knows the forms of answers; a new form is
added here.
"""

import re

KEY = re.compile(r"^(environment \w+|(DIR/strongroom\.toml:\d+: )?[a-z0-9_]+(\.[A-Za-z0-9_]+)*): ")
WRONG = re.compile(
    r"unknown key|must |is (not|no|required|enabled twice|for development only|a published|the sample)"
    r"|does not|no enabled|there is no|cannot|can be read|has (host bits|an invalid)|names no|trusts"
    r"|holds a|wraps|is \"|needs|has (no|several)|is set|no user could|FLASK_DEBUG|requires"
    r"|is (relative|in recovery|unknown|full|unavailable)|a parameter is wrong|refuses|the schema is"
    r"|takes \"|sends|not sent|did not answer"
)
RIGHT = re.compile(
    r"must (be (from|at least|at most|one of|like|a |an |true|set together|set in)|begin|consist|end)"
    r"|did you mean|known here|such as"
    r"|(set|add|list|write|name|run|use|enable|remove|unset|correct|move|see|start|create|free)[ :]"
    r"|is required: |it serves: |production needs|its port has its own key|sends none"
)


def score(answer: str) -> int:
    """Return the points of an answer, 0 to 3."""
    place = KEY.match(answer)
    message = answer[place.end() :] if place else answer
    return sum(map(bool, (place, WRONG.search(message), RIGHT.search(message))))
