"""Linux as a guest: building its kernel, and what it makes of a clock."""
