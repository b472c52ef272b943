"""Passes that map virtual registers onto physical ones: `allocate`, `compact`."""
