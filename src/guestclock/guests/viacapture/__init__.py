"""A bare-metal program for a Macintosh with a 68040: does what is appended, tells it over the serial port."""
