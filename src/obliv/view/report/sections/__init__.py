"""The sections of a report, one file for each kind; each makes plain data for the template and the page's scripts."""
