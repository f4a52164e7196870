"""The pages of a tenant: its members, rules and connections."""
