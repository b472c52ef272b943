"""For the tests of kernels: the pytest plugin, and the kernel that its fixture returns."""
