"""Exact chips.  A chip is told the time in cycles; it knows neither wall time nor machines."""
