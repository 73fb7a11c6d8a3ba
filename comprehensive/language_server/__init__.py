"""Diagnostics, hover and code actions for editors."""
