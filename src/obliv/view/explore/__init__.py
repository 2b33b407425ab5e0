"""One network kept live in the browser while topology, routing, traffic and failures change."""
