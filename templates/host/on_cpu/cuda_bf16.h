/* What generated code and programs need of CUDA's cuda_bf16.h, in C99 and C++ for the CPU: to the bit as a GPU. */
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__
#define __CUDA_BF16_TYPES_EXIST__

#include "cuda_storage_on_cpu.h"

typedef struct __nv_bfloat16 {
  unsigned short bits;
} __nv_bfloat16;
#ifndef CUDA_NO_BFLOAT16
typedef __nv_bfloat16 nv_bfloat16;
#endif

static inline __nv_bfloat16 __double2bfloat16(double value)
{
  __nv_bfloat16 result;
  result.bits = cf_storage_rounded(value, 7, 127);
  return result;
}

static inline __nv_bfloat16 __float2bfloat16_rn(float value) { return __double2bfloat16((double)value); }
static inline __nv_bfloat16 __float2bfloat16(float value) { return __double2bfloat16((double)value); }

static inline float __bfloat162float(__nv_bfloat16 value)
{
  return cf_storage_float((unsigned)value.bits << 16);
}

#ifdef __cplusplus
/* What tensor cores multiply; found by the type of the element. */
static inline float cf_as_float(__nv_bfloat16 value) { return __bfloat162float(value); }
#endif

#endif
