"""Resource and performance evaluation functions f_i and g_i, one per file (comprehensive, section 3.3)."""
