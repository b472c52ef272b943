"""Clusters of CTAs: their numbers, memory and barrier."""
