"""The question before a change of the server that cannot be undone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from strongroom.plugin_api.visits import current_visit
from strongroom.plugin_api.web import RestResponse
from strongroom_console.server.frame import server_page


@dataclass(frozen=True, slots=True)
class Question:
    """What the page asks. Texts are keys.

    Args:
        name: the name in the heading.
        action: the path that the form is sent to, below the console's.
        back: the path of the page that the user returns to, below the console's.
        facts: texts by the keys of their labels.
        reason: the label of the field for a reason; ``None``: the form has none.
        findings: keys of texts by the keys of their labels.
    """

    heading: str
    name: str
    hint: str
    button: str
    action: str
    back: str
    facts: Mapping[str, str] = field(default_factory=dict)
    reason: str | None = None
    findings: Mapping[str, str] = field(default_factory=dict)


def ask(section: str, question: Question, refusal: RestResponse | None = None) -> Any:
    """Return the response with the page of a question."""
    return server_page(
        current_visit(), "server/question.html", section, question=question, refusal=refusal
    )
