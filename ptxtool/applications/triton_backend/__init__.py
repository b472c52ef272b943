"""What Triton finds under `ptxtool exec` as a backend: Triton scripts run unchanged.

`library.py` copies this folder, as the package `ptxtool_triton`, to where the script's Python finds it: the files use
nothing but Triton and Python's own library.
"""
