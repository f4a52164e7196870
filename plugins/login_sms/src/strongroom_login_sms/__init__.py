"""Login method for mobile numbers with verification codes, and a sender for gateways over HTTP."""
