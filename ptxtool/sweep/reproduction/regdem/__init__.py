"""RegDem's evaluation again: nine benchmarks, every variant of each, and the predictor that chooses one."""
