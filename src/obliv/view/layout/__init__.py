"""Where nodes stand in a picture."""
