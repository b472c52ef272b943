"""The commands, one file each: options in, a function of `ptxtool.api`, a report out."""
