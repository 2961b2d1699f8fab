"""What a 6522 does, as vectors that any emulator can run, and the runner."""
