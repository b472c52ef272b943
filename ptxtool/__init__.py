"""A toolchain for GPU assembly: parse, analyse, rewrite and simulate PTX and PTXPlus."""
