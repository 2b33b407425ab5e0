"""The verbs of studies, one module each."""
