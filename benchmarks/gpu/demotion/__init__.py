"""Registers, spills and demotion to shared memory beside each other, kernel by kernel, as in the paper *RegDem*."""
