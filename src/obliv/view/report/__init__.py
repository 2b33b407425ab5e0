"""Reports: studies and saved results as one self-contained web page."""
