"""Passes: text in, text out. `pipeline.rewrite(module, "unroll-decls,reorder-decls:order=text")` runs a pipeline."""
