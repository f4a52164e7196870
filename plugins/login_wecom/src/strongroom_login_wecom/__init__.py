"""Login method for WeCom (企业微信): members of a corporation log in by an app of its own."""
