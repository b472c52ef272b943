"""Dataflow: the solver, liveness, loops, dependences, frequencies, register pressure."""
