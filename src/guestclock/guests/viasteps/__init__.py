"""A bare-metal guest that performs a list of VIA accesses, each after a wait exact to an instruction."""
