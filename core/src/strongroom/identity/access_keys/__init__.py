"""Access keys: credentials of machines, limited by scopes, a tenant, a folder and an end."""
