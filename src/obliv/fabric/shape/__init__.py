"""Fat trees recognized in the cabling of a fabric."""
