"""File events: the history of actions on tenants' files and folders, with the acting users."""
