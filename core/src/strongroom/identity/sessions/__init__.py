"""Login, tokens and the authorizations behind them."""
