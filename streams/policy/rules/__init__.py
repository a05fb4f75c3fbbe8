"""One rule a file; their order is in `streams.policy.chain`."""
