"""What is left of a fabric's guarantees after cables or switches failed."""
