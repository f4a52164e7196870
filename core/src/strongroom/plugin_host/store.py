"""The values that one plugin stores for users."""

from collections.abc import Callable, Sequence
from typing import Any

from strongroom.plugin_api.state import MAX_KEY_LENGTH, UserStore
from strongroom.plugin_values.service import PluginValues


class HostStore(UserStore):
    """Implements :class:`strongroom.plugin_api.state.UserStore`."""

    def __init__(self, plugin: str, values: Callable[[], PluginValues]) -> None:
        self._plugin = plugin
        self._values = values

    def get(self, user_id: str, key: str) -> Any:
        return self._values().get(self._plugin, user_id, key)

    def keys(self, user_id: str) -> Sequence[str]:
        return self._values().keys(self._plugin, user_id)

    def put(self, user_id: str, key: str, value: Any) -> None:
        self._values().put(self._plugin, user_id, _checked(key), value)

    def delete(self, user_id: str, key: str) -> bool:
        return self._values().delete(self._plugin, user_id, key)

    def compare_and_set(self, user_id: str, key: str, expected: Any, value: Any) -> bool:
        return self._values().compare_and_set(self._plugin, user_id, _checked(key), expected, value)


def _checked(key: str) -> str:
    # PostgreSQL has no null character.
    if not 1 <= len(key) <= MAX_KEY_LENGTH or "\0" in key:
        raise ValueError(f"a key has 1 to {MAX_KEY_LENGTH} characters")
    return key
