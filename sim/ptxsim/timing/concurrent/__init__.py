"""Launches that run at the same time, on the host's side: from prepared launches to a simulation and back."""
