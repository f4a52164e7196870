"""Login method for mobile numbers with verification codes, and SMS senders."""
