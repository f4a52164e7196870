"""The tools over the files of the caller. Each has a schema of its arguments, a scope, and a function.

The functions call ``host.files`` and ``host.tenants``, whose rules hold: the permissions of the user,
and the scopes, the tenant and the folder of the access key.
"""
