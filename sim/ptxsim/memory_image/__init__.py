"""What a launch puts into device memory: buffers, variables, textures; faults; what kernels print."""
