"""What is read off a timed run: counters, totals over launches, the timeline."""
