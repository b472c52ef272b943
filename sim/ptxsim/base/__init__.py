"""What every room of the simulator uses: compilation and its cache, record pool, programs, options."""
