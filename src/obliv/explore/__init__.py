"""One network in the browser, answered live."""
