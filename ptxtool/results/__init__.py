"""Results as plain values: what the API returns, `--json` prints and a sweep's store keeps."""
