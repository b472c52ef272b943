"""Things every layer needs: source text and positions, diagnostics, bit sets, packaged resources."""
