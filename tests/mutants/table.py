"""The mutants: one row for each security guard.

A row that no longer applies is adapted to the new code, or removed together with its guard. A guard in a
new place gets a row, and a test that fails without it.
"""

from typing import Final

from tests.mutants.rows import (
    access,
    access_keys,
    accounts,
    assurance,
    batches,
    databases,
    effects,
    groups,
    guessing,
    login_pages,
    oauth,
    openid,
    openid_presets,
    operation,
    outbound,
    passkeys,
    plugin_state,
    policies,
    retention,
    scanning,
    server_state,
    shares,
    tokens,
    trash,
    uploads,
    user_imports,
    web,
    webhooks,
)

MUTANTS: Final = (
    *retention.ROWS,
    *passkeys.ROWS,
    *login_pages.ROWS,
    *access_keys.ROWS,
    *tokens.ROWS,
    *accounts.ROWS,
    *effects.ROWS,
    *guessing.ROWS,
    *oauth.ROWS,
    *openid.ROWS,
    *openid_presets.ROWS,
    *access.ROWS,
    *assurance.ROWS,
    *policies.ROWS,
    *groups.ROWS,
    *uploads.ROWS,
    *web.ROWS,
    *databases.ROWS,
    *operation.ROWS,
    *outbound.ROWS,
    *webhooks.ROWS,
    *scanning.ROWS,
    *server_state.ROWS,
    *plugin_state.ROWS,
    *shares.ROWS,
    *trash.ROWS,
    *batches.ROWS,
    *user_imports.ROWS,
)
