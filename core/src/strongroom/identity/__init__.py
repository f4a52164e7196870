"""Who a caller is: users, sessions, accounts, verification codes, access keys."""
