"""Registration: accounts that people create for themselves."""
