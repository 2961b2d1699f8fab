"""The measuring init of the Linux guest: its source and how it is built."""
