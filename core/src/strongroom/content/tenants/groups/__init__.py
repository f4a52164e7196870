"""Groups of a tenant's members."""
