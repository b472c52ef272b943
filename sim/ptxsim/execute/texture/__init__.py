"""Texture and surface instructions: the table of bound textures, and sampling."""
