"""All register schemes side by side, on the kernels of all papers and on two machines."""
