"""Messages: notifications and verification codes by e-mail and SMS."""
