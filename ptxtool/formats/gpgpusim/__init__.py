"""GPGPU-Sim's own configuration files, read as GPU files: `machine.py` for `ptxtool.formats.gpu`."""
