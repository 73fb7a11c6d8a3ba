/* Of CUDA's header regions use the type bfloat16 and its conversions alone, which the language has: no macros. */
