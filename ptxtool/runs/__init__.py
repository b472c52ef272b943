"""Running kernels: one launch, a list of launches, the ladder of schemes."""
