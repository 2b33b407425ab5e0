"""From floating-point solutions to rational ones."""
