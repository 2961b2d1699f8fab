"""Paravirtual clocks: the page a hypervisor publishes and the guest that reads it.

``layouts`` are the pages, ``scale`` their arithmetic (``exact`` is its oracle), ``writers`` the
hypervisor's side, ``readers`` the guest's, ``interleave`` every order in which the two may meet
on a machine, ``predict`` what follows for a frequency or a migration.
"""
