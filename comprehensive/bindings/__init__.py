"""Generated functions called from Python."""
