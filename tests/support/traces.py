"""Searches a server's tables, files and output for secrets."""

import base64
import re
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import MetaData, create_engine, select


def dump(database_url: str) -> dict[str, str]:
    """Return every table as text, a value a line."""
    engine = create_engine(database_url)
    metadata = MetaData()
    metadata.reflect(engine)
    with engine.connect() as connection:
        tables = {
            name: "\n".join(
                _text_of(value) for row in connection.execute(select(table)) for value in row
            )
            for name, table in metadata.tables.items()
            # Indexes of texts hold only hashes, and cannot be read row by row.
            if not name.startswith(("name_index", "user_search_index"))
        }
    engine.dispose()
    return tables


def _text_of(value: object) -> str:
    """Return a value as text; bytes so that a text in them can be read."""
    return bytes(value).decode("latin-1") if isinstance(value, bytes | memoryview) else str(value)


def raw_files(database_url: str, when: str) -> dict[str, str]:
    """Return the content of SQLite's files, with deleted rows and the write-ahead log."""
    scheme, _, path = database_url.partition(":///")
    if scheme != "sqlite":
        return {}
    folder, name = Path(path).parent, Path(path).name
    return {
        f"{when} {file.name}": file.read_bytes().decode("latin-1") for file in folder.glob(f"{name}*")
    }


def stands_in(secret: str, place: str) -> bool:
    """Return whether a text contains a secret, as it is or in a common encoding."""
    encoded = secret.encode()
    in_base64 = base64.b64encode(encoded).decode()[: len(encoded) * 8 // 6]
    if secret.isdigit():
        # Digits stand by chance within some longer number or hash.
        alone = rf"(?<![0-9A-Za-z]){secret}(?![0-9A-Za-z])"
        return re.search(alone, place) is not None or in_base64 in place
    forms = (secret, quote(secret), encoded.hex(), in_base64)
    return any(form in place for form in forms)
