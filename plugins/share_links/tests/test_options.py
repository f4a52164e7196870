"""Options are checked before the server starts."""

import pytest

from strongroom_share_links.options import ShareOptions


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"kinds": ("read", "steal")}, "kinds"),
        ({"password": "never"}, "password"),
        ({"who": "everyone"}, "who"),
        ({"anonymous_per_address": ("many",)}, "anonymous_per_address"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        ShareOptions(**options)  # type: ignore[arg-type]
