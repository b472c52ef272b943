"""What may have been meant: the next steps of diagnostics about words and names that nothing knows."""
