"""Control flow: basic blocks and edges (`blocks`), dominators, reconvergence points, DOT.

`blocks.build` computes the graph of a function; everything else is a function of that graph. Empty, because `ptxtool`
itself imports this package.
"""
