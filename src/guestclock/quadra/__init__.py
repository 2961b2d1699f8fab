"""A Macintosh Quadra 800: CPU, bus, devices and boot protocol."""
