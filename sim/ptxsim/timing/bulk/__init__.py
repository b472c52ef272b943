"""Copy engines of SMs, and warps that sleep until copies or mbarriers are complete."""
