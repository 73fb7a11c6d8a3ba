"""Versions of a kernel at several occupancy levels: which there are, to try, and to keep (the paper *Orion*)."""
