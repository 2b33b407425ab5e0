"""Files for simulators: networks with routings and traffic."""
