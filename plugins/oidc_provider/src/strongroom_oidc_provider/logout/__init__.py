"""The end of logins at clients: at their request, and by tokens that are sent to them."""
