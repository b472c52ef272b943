"""Reports about the text of a kernel: live registers, first use, pressure, control flow."""
