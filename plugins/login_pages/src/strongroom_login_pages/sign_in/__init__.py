"""Sign-in: from the form of the login to the session of the browser, with all second factors."""
