"""The catalogues have each text that the pages show, in both languages, and no other."""

import tomllib
from pathlib import Path

from tests.support.page_texts import PageTexts

import strongroom_console
from strongroom_console.file_actions import ACTIONS
from strongroom_console.my_files.access import ROLES
from strongroom_console.my_files.details import SCANS
from strongroom_console.my_files.links import AUDIENCES, KINDS, STATES
from strongroom_console.my_files.nodes import PERMISSIONS
from strongroom_console.my_files.shares import OPENINGS
from strongroom_console.server.audit_names import OBJECTS, VERBS
from strongroom_console.server.first_steps import STEP_NAMES
from strongroom_console.server.imports import STATES as IMPORTS
from strongroom_console.server.logins import MODES
from strongroom_console.server.state import JOB_STATES, MESSAGE_STATES
from strongroom_console.server.stories import ALONE, OF_ONESELF, ON_TARGET, WITH_PERSON
from strongroom_console.server.user_logins import FACTORS
from strongroom_console.tenant.activity import SENTENCES
from strongroom_console.tenant.retention import EFFECTS
from strongroom_console.visit import PROBLEMS

MESSAGES = Path(strongroom_console.__file__).parent / "messages"

COMPUTED: set[str] = (
    {
        key
        for names in (
            ACTIONS,
            AUDIENCES,
            IMPORTS,
            JOB_STATES,
            KINDS,
            MESSAGE_STATES,
            MODES,
            OPENINGS,
            PERMISSIONS,
            ROLES,
            SCANS,
            STATES,
        )
        for key in names.values()
    }
    | PROBLEMS
    | {f"{name}{suffix}" for name in STEP_NAMES for suffix in ("", "-hint")}
)
COMPUTED |= {*SENTENCES.values(), *EFFECTS.values()}
TOLD = ALONE | ON_TARGET | OF_ONESELF | WITH_PERSON
COMPUTED |= {f"story-{action.replace('.', '-')}" for action in TOLD}
COMPUTED |= {f"story-{action.replace('.', '-')}-self" for action in OF_ONESELF} | {*FACTORS.values()}
COMPUTED |= {f"audited-{name}" for name in OBJECTS} | {f"was-{verb}" for verb in VERBS}
COMPUTED |= {*tomllib.loads((MESSAGES / "settings.en.toml").read_text())}
"""The keys that the code computes."""

TEXTS = PageTexts(Path(strongroom_console.__file__).parent, COMPUTED)


def test_both_languages_have_the_same_texts() -> None:
    assert TEXTS.without_translation == set()


def test_every_text_of_a_template_is_there() -> None:
    assert len(TEXTS.used) > 10
    assert TEXTS.missing == set()


def test_no_text_is_left_over() -> None:
    assert TEXTS.unused == set()


def test_chinese_texts_are_chinese() -> None:
    assert TEXTS.not_chinese == []
