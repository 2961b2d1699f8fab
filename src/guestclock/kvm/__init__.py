"""A micro-VMM on /dev/kvm that measures clocks from inside a guest."""
