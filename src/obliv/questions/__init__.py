"""Questions about a routing: each file has the function, its result and what that shows."""
