"""The streaming-multiprocessor simulator."""
