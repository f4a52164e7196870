"""All pages of the product in Chromium; the modules share the work among the processes of a run."""
