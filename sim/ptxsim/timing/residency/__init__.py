"""Switching of CTAs: more of them are resident than the pipeline has places for (Virtual Thread, FineReg)."""
