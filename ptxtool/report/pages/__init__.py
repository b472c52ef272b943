"""Pages to look at: one self-contained HTML file each, without a network. `page.py` has what all of them share."""
