/* What generated code and programs need of CUDA's cuda_fp16.h, in C99 and C++ for the CPU: to the bit as a GPU. */
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__
#define __CUDA_FP16_TYPES_EXIST__

#include "cuda_storage_on_cpu.h"

typedef struct __half {
  unsigned short bits;
} __half;
#ifndef CUDA_NO_HALF
typedef __half half;
#endif

static inline __half __double2half(double value)
{
  __half result;
  result.bits = cf_storage_rounded(value, 10, 15);
  return result;
}

static inline __half __float2half_rn(float value) { return __double2half((double)value); }
static inline __half __float2half(float value) { return __double2half((double)value); }

static inline float __half2float(__half value)
{
  const unsigned sign = (value.bits & 0x8000u) << 16, exponent = value.bits >> 10 & 31u, fraction = value.bits & 0x3ffu;
  float tiny;
  if (exponent == 31u) return cf_storage_float(sign | 0x7f800000u | fraction << 13);
  if (exponent > 0u) return cf_storage_float(sign | (exponent + 112u) << 23 | fraction << 13);
  tiny = (float)fraction * 5.9604644775390625e-8f; /* 2**-24 */
  return sign != 0u ? -tiny : tiny;
}

#ifdef __cplusplus
/* What tensor cores multiply; found by the type of the element. */
static inline float cf_as_float(__half value) { return __half2float(value); }
#endif

#endif
