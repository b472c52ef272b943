"""The cycle loop: one file per stage of the SM (timing-model section 1)."""
