"""The commands that look something up, without a kernel."""
