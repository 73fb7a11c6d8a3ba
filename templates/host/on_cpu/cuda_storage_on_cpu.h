/* Conversions between floating types of 16 bits and wider ones, in integers. */
#ifndef CF_STORAGE_H
#define CF_STORAGE_H

#include <stdint.h>
#include <string.h>

/* The bits of the nearest value with so many bits of fraction and this bias of the exponent, ties to even; every NaN
   becomes that of CUDA. */
static inline unsigned short cf_storage_rounded(double value, int fraction_bits, int bias)
{
  uint64_t bits, magnitude, significand, kept, rest, tie;
  unsigned sign, infinity;
  int exponent, dropped;
  memcpy(&bits, &value, sizeof bits);
  sign = (unsigned)(bits >> 63) << 15;
  magnitude = bits & 0x7fffffffffffffffULL;
  infinity = (unsigned)(2 * bias + 1) << fraction_bits;
  if (magnitude > 0x7ff0000000000000ULL) return 0x7fff;
  exponent = (int)(magnitude >> 52) - 1023;
  if (exponent > bias) return (unsigned short)(sign | infinity);
  dropped = 52 - fraction_bits + (exponent < 1 - bias ? 1 - bias - exponent : 0);
  if (dropped > 53) return (unsigned short)sign; /* less than half of the least value; so are subnormal numbers */
  significand = (magnitude & 0xfffffffffffffULL) | 0x10000000000000ULL;
  kept = significand >> dropped;
  rest = significand & ((1ULL << dropped) - 1);
  tie = 1ULL << (dropped - 1);
  if (rest > tie || (rest == tie && (kept & 1) != 0)) kept++;
  /* The leading bit counts as one of the exponent, and a carry out of the fraction as the next one. */
  if (exponent >= 1 - bias) kept += (uint64_t)(exponent + bias - 1) << fraction_bits;
  return (unsigned short)(sign | (unsigned)(kept < infinity ? kept : infinity));
}

static inline float cf_storage_float(uint32_t bits)
{
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

#endif
