"""This machine's own clocks, measured by any user, from inside one process."""
