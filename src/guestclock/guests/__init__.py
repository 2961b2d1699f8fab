"""Programs that run inside a machine, and the line protocol that they speak."""
