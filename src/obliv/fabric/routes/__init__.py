"""Where forwarding tables lead, as a routing with pair loads."""
