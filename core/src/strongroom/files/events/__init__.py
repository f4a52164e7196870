"""File events: what was done with tenants' files and folders, by which user."""
