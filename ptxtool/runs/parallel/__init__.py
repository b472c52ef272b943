"""Several simulations of a launch at a time."""
