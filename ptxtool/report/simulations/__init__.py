"""Reports about runs: counters, ladders of schemes, hotspots, sweeps, the papers' exhibits."""
