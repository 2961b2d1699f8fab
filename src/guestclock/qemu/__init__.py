"""Real QEMU processes: started, listened to, and never left running."""
