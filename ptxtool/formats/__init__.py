"""What leaves or enters as a file: launch files, GPU files, live-register vectors, results."""
