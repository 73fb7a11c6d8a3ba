"""Decision trees whose counters take their values from a file instead of evaluating the code."""
