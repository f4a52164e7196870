"""Files and folders of tenants."""
