"""The log: one record a line in JSON, and in either form with the request's id."""

import json
import logging
import sys
from collections.abc import Iterator

import pytest

from strongroom.foundation.config.server_settings import LoggingSettings
from strongroom.foundation.logs import configure


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def test_a_record_with_any_content_is_one_line_of_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure(LoggingSettings(format="json"), lambda: "abc-123")
    try:
        int("broken")
    except ValueError:
        logging.getLogger("strongroom.test").exception("two\nlines of %s", "文字")
    (line,) = capsys.readouterr().err.splitlines()
    record = json.loads(line)
    assert record["message"] == "two\nlines of 文字"
    assert (record["level"], record["logger"]) == ("error", "strongroom.test")
    assert record["requestId"] == "abc-123"
    assert "ValueError: invalid literal" in record["exception"]


def test_a_line_for_people_ends_with_the_request(capsys: pytest.CaptureFixture[str]) -> None:
    configure(LoggingSettings(), lambda: "abc-123")
    logging.getLogger("strongroom.test").warning("something")
    said = capsys.readouterr().err
    assert said.endswith("WARNING strongroom.test: something (request abc-123)\n")


def test_records_below_the_level_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    configure(LoggingSettings(level="error"))
    logging.getLogger("strongroom.test").warning("something")
    assert capsys.readouterr().err == ""
    assert sys.stderr is not None


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_secret_that_a_plugin_logs_is_masked(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    configure(LoggingSettings(format=form), hide=lambda text: text.replace("hush-hush", "..."))
    logger = logging.getLogger("strongroom.test")
    try:
        int("hush-hush")
    except ValueError:
        logger.exception("connecting with %s", "hush-hush")
    said = capsys.readouterr().err
    assert said.count("...") == 3
    assert "hush-hush" not in said
