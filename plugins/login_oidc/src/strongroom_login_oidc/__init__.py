"""Log in by OpenID Connect: any provider by discovery, and presets of well-known ones."""
