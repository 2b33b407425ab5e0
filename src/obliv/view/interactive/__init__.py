"""Networks with loads as color for pages and notebooks, and the script that proves them there."""
