"""The bundled bare-metal guest: its source, its built ELF, and how the one becomes the other."""
