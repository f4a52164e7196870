"""JSON values that are stored encrypted."""

import json
from dataclasses import dataclass
from typing import Any

from strongroom.foundation.json_text import encode_json
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.plugin_api.state import MAX_VALUE_BYTES


@dataclass(slots=True, eq=False, repr=False)
class SealedJson:
    """Encrypts and decrypts JSON values, each for one purpose."""

    _keys: SecretKeys

    def seal(self, purpose: str, value: Any) -> str:
        """Return the encrypted JSON text of a value.

        Raises:
            ValueError: the value is ``None``, or too large.
        """
        if value is None:
            raise ValueError("None is not a value; delete the key instead")
        text = encode_json(value)
        if len(text.encode()) > MAX_VALUE_BYTES:
            raise ValueError(f"a value has at most {MAX_VALUE_BYTES} bytes as JSON")
        return self._keys.seal(purpose, text)

    def open(self, purpose: str, sealed: str | None) -> Any:
        """Return a value; ``None`` if there is no text.

        Raises:
            ValueError: the text was encrypted with another secret key, or for another purpose.
        """
        return None if sealed is None else json.loads(self._keys.unseal(purpose, sealed))


def is_same_json(value: Any, other: Any) -> bool:
    """Return whether two values are the same JSON. In Python 1, 1.0 and True are equal."""
    return json.dumps(value, sort_keys=True) == json.dumps(other, sort_keys=True)
