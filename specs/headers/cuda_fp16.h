/* Of CUDA's header regions use the type half and its conversions alone, which the language has: no macros. */
