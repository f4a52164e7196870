"""Contract tests for commands of plugins."""

from collections.abc import Sequence

import pytest

from strongroom.testing.server import LiveServer, ServerFailed


class CommandsContract:
    """The contract of commands. Provide the fixture ``commands``.

    The module of the test class has a fixture ``server`` with the scope ``module``: a
    :class:`~strongroom.testing.server.LiveServer` that has the plugin enabled.
    """

    @pytest.fixture
    def commands(self) -> Sequence[str]:
        """The names of the commands."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    def test_each_command_has_a_help_text(self, server: LiveServer, commands: Sequence[str]) -> None:
        for name in commands:
            _, _, text = server.command(name, "--help").partition("\n\n")
            assert text.strip(), name
            assert not text.lstrip().startswith("Options:"), f"{name} has no docstring"

    def test_an_unknown_option_is_refused(self, server: LiveServer, commands: Sequence[str]) -> None:
        for name in commands:
            with pytest.raises(ServerFailed, match="No such option"):
                server.command(name, "--no-such-option-exists")
