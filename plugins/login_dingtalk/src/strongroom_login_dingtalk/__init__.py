"""Login method for DingTalk: members of a company, in a browser or in DingTalk itself."""
