"""The measuring init of the x86 Linux guest: its source and how it is built."""
