"""Service accounts of the server: accounts of machines that administer users and tenants."""
