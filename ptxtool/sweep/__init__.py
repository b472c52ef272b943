"""Running kernels in the simulator: one run of a launch, and the runs of a ladder of schemes."""
