"""Results of analyses: worst cases, averages, throughput, locality, deadlock, ratios, comparisons."""
