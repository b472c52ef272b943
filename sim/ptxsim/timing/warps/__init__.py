"""The state of warps in the pipeline: SIMT stack, scoreboard, barriers."""
