"""What `lower-ptxplus` is made of: instruction selection by family, folding, layout."""
