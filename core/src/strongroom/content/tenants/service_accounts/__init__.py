"""Service accounts of tenants."""
