"""Launch files (TOML): what to run a kernel with, and the results that are expected."""
