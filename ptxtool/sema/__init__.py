"""Semantic analysis: what `ptxtool check` reports about a module that parsed. The way in is `module.check_module`."""
