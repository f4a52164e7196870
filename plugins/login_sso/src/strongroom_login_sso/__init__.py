"""Single sign-on per tenant: domains proven by DNS, and the tenant's own OpenID provider."""
