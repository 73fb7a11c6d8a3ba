#define VALUE (SEVEN + 0)
