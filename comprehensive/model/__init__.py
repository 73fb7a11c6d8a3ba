"""The predicted time of a kernel, from exact counts of what its blocks do and a few speeds of a device."""
