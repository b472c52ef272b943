"""FineReg's evaluation: eighteen benchmarks, and what is printed about them."""
