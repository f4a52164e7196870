"""Reads and writes the values that plugins store for users."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, select, update

from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.errors import NotFound
from strongroom.foundation.sealed_json import SealedJson, is_same_json
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.identity.users.plugin_value_models import plugin_values
from strongroom.identity.users.service import UserService, lock_logins
from strongroom.plugin_api.deactivation import Deactivation
from strongroom.plugin_api.state import UnknownUser

_ROW = (
    plugin_values.c.user_id == bindparam("of_user"),
    plugin_values.c.plugin == bindparam("of_plugin"),
    plugin_values.c.key == bindparam("of_key"),
)
_GET: Final = Statement(select(plugin_values.c.sealed).where(*_ROW))
_KEYS: Final = Statement(select(plugin_values.c.key).where(*_ROW[:2]).order_by(plugin_values.c.key))
_PUT: Final = Statement(
    for_each_dialect(
        plugin_values,
        lambda insert: insert.on_conflict_do_update(
            index_elements=["user_id", "plugin", "key"], set_={"sealed": insert.excluded.sealed}
        ),
    )
)
# Concurrent inserts: one wins; the others update no row, so their compare-and-set fails.
_ADD: Final = Statement(for_each_dialect(plugin_values, lambda insert: insert.on_conflict_do_nothing()))
_DELETE: Final = Statement(delete(plugin_values).where(*_ROW))
_UNCHANGED = plugin_values.c.sealed == bindparam("former")
_REPLACE_IF: Final = Statement(
    update(plugin_values).where(*_ROW, _UNCHANGED).values(sealed=bindparam("new"))
)
_DELETE_IF: Final = Statement(delete(plugin_values).where(*_ROW, _UNCHANGED))
_DELETE_ALL: Final = Statement(
    delete(plugin_values).where(plugin_values.c.user_id == bindparam("of_user"))
)


class PluginValues:
    """The values of all plugins.

    Encryption is not deterministic, so two equal encrypted texts are the same write. A conditional write
    therefore compares the encrypted text that it has read, and no two of them can both succeed.

    All methods raise ``Unavailable`` if the database does not respond, and ``ValueError`` for a value
    that was encrypted with another secret key.
    """

    def __init__(self, database: Database, keys: SecretKeys, users: UserService) -> None:
        self._database = database
        self._json = SealedJson(keys)
        self._users = users

    def get(self, plugin: str, user_id: str, key: str) -> Any:
        """Return a value, or ``None``."""
        with self._database.read_one() as connection:
            sealed = _GET.scalar(connection, _names(plugin, user_id, key))
        return self._json.open(_purpose(plugin, user_id, key), sealed)

    def keys(self, plugin: str, user_id: str) -> Sequence[str]:
        """Return the keys of a user's values, sorted."""
        with self._database.read_one() as connection:
            return _KEYS.scalars(connection, {"of_user": user_id, "of_plugin": plugin})

    def put(self, plugin: str, user_id: str, key: str, value: Any) -> None:
        """Store a value.

        Raises:
            UnknownUser: there is no such user.
            ValueError: the value is ``None``, or too large.
        """
        sealed = self._json.seal(_purpose(plugin, user_id, key), value)
        with self._database.write() as connection:
            self._require_user(connection, user_id)
            _PUT.execute(connection, _row(plugin, user_id, key, sealed))

    def delete(self, plugin: str, user_id: str, key: str) -> bool:
        """Delete a value, and return whether there was one."""
        with self._database.write() as connection:
            return bool(_DELETE.execute(connection, _names(plugin, user_id, key)))

    def compare_and_set(self, plugin: str, user_id: str, key: str, expected: Any, value: Any) -> bool:
        """Store a value if the present one equals ``expected``; ``None`` is an absent value.

        Raises:
            UnknownUser: there is no such user.
            ValueError: the value is too large.
        """
        purpose = _purpose(plugin, user_id, key)
        sealed = None if value is None else self._json.seal(purpose, value)
        names = _names(plugin, user_id, key)
        with self._database.write() as connection:
            self._require_user(connection, user_id)
            former = _GET.scalar(connection, names)
            if not is_same_json(self._json.open(purpose, former), expected):
                return False
            if former is None:
                return sealed is None or bool(
                    _ADD.execute(connection, _row(plugin, user_id, key, sealed))
                )
            if sealed is None:
                return bool(_DELETE_IF.execute(connection, {**names, "former": former}))
            parameters = {**names, "former": former, "new": sealed}
            return bool(_REPLACE_IF.execute(connection, parameters))

    def deactivate(self, connection: Connection, ended: Deactivation) -> None:
        """Delete the values of all plugins for a deleted user."""
        if ended.is_deletion:
            _DELETE_ALL.execute(connection, {"of_user": ended.user_id})

    def _require_user(self, connection: Connection, user_id: str) -> None:
        # Shared with other writers; the deletion of the user waits, or has ended.
        lock_logins(connection, user_id, shared=True)
        try:
            self._users.get(connection, user_id)
        except NotFound as error:
            raise UnknownUser(user_id) from error


def _purpose(plugin: str, user_id: str, key: str) -> str:
    # A row that was copied to another plugin, user or key cannot be decrypted there.
    return f"plugin value {plugin} {user_id} {key}"


def _names(plugin: str, user_id: str, key: str) -> dict[str, str]:
    return {"of_user": user_id, "of_plugin": plugin, "of_key": key}


def _row(plugin: str, user_id: str, key: str, sealed: str) -> dict[str, str]:
    return {"user_id": user_id, "plugin": plugin, "key": key, "sealed": sealed}
