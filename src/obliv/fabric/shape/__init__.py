"""Fat trees recognised in the cabling of a fabric."""
