"""Counters and strategies as another package offers them to comprehensive."""
