"""Linux as a guest: building its kernel, and what it says about its clock."""
