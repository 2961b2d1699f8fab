"""Machines side by side: rows, rounds in which they take turns, and what came out."""
