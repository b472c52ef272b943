"""Resource sharing: when a warp may touch what its CTA shares with a partner CTA."""
