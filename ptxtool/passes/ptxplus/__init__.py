"""The parts of `lower-ptxplus`: instruction selection by family, folding, layout."""
