"""Firefox at the pages of the sign-in and the account."""

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyotp
import pytest

from strongroom.testing.server import PASSWORD
from tests.support.npm import NPM, install_packages
from tests.support.screens.sign_in import enrol_app_of
from tests.support.screens.stage import CAPTCHA, Stage, full_stage

FIREFOX: Final = shutil.which("firefox-esr") or shutil.which("firefox")
# Later versions call commands that Firefox 140 (ESR) does not have.
DRIVER: Final = "puppeteer-core@24.27.0"
JOURNEY: Final = Path(__file__).with_name("firefox") / "journey.mjs"
LOCALES: Final = {"en": "en-US", "zh": "zh-CN"}

pytestmark = [
    pytest.mark.extended,
    pytest.mark.skipif(FIREFOX is None or NPM is None, reason="there is no Firefox, or no npm"),
]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with full_stage(tmp_path_factory.mktemp("server")) as stage:
        yield stage


@pytest.fixture(scope="module")
def journey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script of the journey, in a folder with the driver of Firefox."""
    folder = tmp_path_factory.mktemp("firefox")
    install_packages(folder, DRIVER)
    return Path(shutil.copy(JOURNEY, folder))


@pytest.mark.parametrize("language", LOCALES)
def test_people_register_reset_log_in_and_log_out(stage: Stage, journey: Path, language: str) -> None:
    email, secret = enrol_app_of(stage)
    # The code of the current step was used for the enrolment.
    other = {"email": email, "totp": pyotp.TOTP(secret).at(int(time.time()) + 30)}
    options = {
        "firefox": FIREFOX,
        "origin": stage.origin,
        "locale": LOCALES[language],
        "password": PASSWORD,
        "captcha": CAPTCHA,
        "user": stage.new_email(),
        "other": other,
        "outbox": str(stage.outbox),
    }
    result = subprocess.run(
        ["node", str(journey), json.dumps(options)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == {
        "steps": ["/account/", "/account/login"] * 4,
        "languages": [language],
        "faults": [],
    }
