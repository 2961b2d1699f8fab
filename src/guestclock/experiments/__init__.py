"""Questions put to machines: one module an experiment."""
