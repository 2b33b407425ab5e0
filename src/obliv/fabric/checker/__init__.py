"""The check of claims about failures of fabrics."""
