"""Records of machines that launches use one after the other."""
