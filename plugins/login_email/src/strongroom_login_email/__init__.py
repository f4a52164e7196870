"""Login method for e-mail addresses with verification codes."""
