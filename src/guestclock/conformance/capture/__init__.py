"""Vectors as programs for machines with a real 6522, and what such a machine shows as vectors again."""
