"""Judgements on a clock, computed from the tables and from nothing else."""
