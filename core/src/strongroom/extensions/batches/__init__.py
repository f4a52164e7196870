"""Changes of many files and folders by one request."""
