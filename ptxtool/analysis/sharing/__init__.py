"""What resource sharing asks of a kernel: first use, last access, release points, variable layout."""
