"""How long a kernel takes, from exact counts of what its blocks do and a few speeds of a device."""
