"""Running what the tool generates: on the CPU without CUDA, and the serial program as the reference for it."""
