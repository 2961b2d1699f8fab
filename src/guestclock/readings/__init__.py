"""The three tables that every source fills: readings, events, histograms."""
