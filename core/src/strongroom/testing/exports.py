"""The contract tests of what plugins add to the archives of users' data."""

import json
from datetime import datetime
from itertools import islice
from typing import Any

from strongroom.testing.state import OpenedPlugin

_MANY = 10_000


class UserExportsContract:
    """The rules of ``register_user_exports``. Requires a fixture ``opened``."""

    def test_there_are_exports_with_names_of_their_own(self, opened: OpenedPlugin) -> None:
        names = [export.name for export in opened.user_exports]
        assert names
        assert len(names) == len(set(names))

    def test_each_title_is_a_phrase(self, opened: OpenedPlugin) -> None:
        for export in opened.user_exports:
            assert export.title.strip(), f"{export.name} has no title"
            assert not export.title.endswith("."), f"the title of {export.name} is a line of a list"

    def test_a_user_without_rows_of_the_plugin_has_a_file_of_json_objects(
        self, opened: OpenedPlugin
    ) -> None:
        for user_id in (opened.create_user(), "0190a1b2-0000-7000-8000-000000000000"):
            for export in opened.user_exports:
                for record in islice(export.read(user_id), _MANY):
                    require_record(record)


def require_record(record: Any) -> None:
    """Require a JSON object, whose times are ISO 8601 in members such as ``createdAt``."""
    assert isinstance(json.loads(json.dumps(record)), dict)
    for name, value in record.items():
        if name.endswith("At") and value is not None:
            assert datetime.fromisoformat(value).tzinfo is not None, f"{name} has no time zone"
