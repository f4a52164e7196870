"""Pages for people: their templates, texts, design, browsers and static files."""
