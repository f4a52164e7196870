"""Operations on user imports. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import CreateUserImportOnConflict, UserImport, UserImportCollection
from ..operations import UNSET, Content, Operation, Unset, segment


def cancel_user_import(
    import_id: str,
) -> Operation[UserImport]:
    """Cancel an import. Users who are imported already stay; one that has ended does not change.

    For administrators. Lines that were not processed are discarded; send them again in another import.
    """
    return Operation(
        "DELETE",
        f"/user-imports/{segment(import_id)}",
        UserImport,
    )


def create_user_import(
    *,
    content: Content,
    dry_run: bool | Unset = UNSET,
    on_conflict: CreateUserImportOnConflict | Unset = UNSET,
    events: bool | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[UserImport]:
    """Import users: a body of JSON lines, at most 64 KiB each.

    The response arrives when all lines are received; then they are imported in the background, and
    each line counts once. `update` finds users by `externalId`, or else by a contact. It keeps
    passwords that were used here, and changes no administrator. An import whose caller loses the right
    to it ends with the state `revoked`.
    """
    return Operation(
        "POST",
        "/user-imports",
        UserImport,
        query={
            "dryRun": dry_run,
            "onConflict": on_conflict,
            "events": events,
        },
        headers={
            "Idempotency-Key": idempotency_key,
        },
        content=content,
        media_type="application/x-ndjson",
    )


def get_user_import(
    import_id: str,
) -> Operation[UserImport]:
    """Get an import: its state, and how many lines were processed.

    For administrators. Repeat the request until `state` is `finished`, `cancelled` or `revoked`.
    """
    return Operation(
        "GET",
        f"/user-imports/{segment(import_id)}",
        UserImport,
    )


def list_user_import_errors(
    import_id: str,
) -> Operation[bytes]:
    """Get why lines were refused: JSON lines with `line`, `code`, `field` and `message`.

    For administrators. `line` counts from 1, with empty lines; the response is empty while no line was
    refused.
    """
    return Operation(
        "GET",
        f"/user-imports/{segment(import_id)}/errors",
        bytes,
    )


def list_user_imports(
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[UserImportCollection]:
    """List the imports of the last month, newest first.

    For administrators. The counts of an import that runs grow meanwhile.
    """
    return Operation(
        "GET",
        "/user-imports",
        UserImportCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )
