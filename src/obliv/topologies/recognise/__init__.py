"""Known shapes recognised in plain links: grids and fat trees."""
