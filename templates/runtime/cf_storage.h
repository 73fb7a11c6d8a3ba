/* Elements of 16 bits: CUDA's own type in CUDA code, and wherever its header is included before this one; else that of
   the compiler; else a structure of the same size. */
#ifndef CF_STORAGE
#define CF_STORAGE 0
#if defined(CF_RUNTIME) && CF_RUNTIME != CF_STORAGE
#error "cf_storage.h and cf_runtime.h are of different versions of comprehensive: generate both with one version"
#endif

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

/* Sign, 5 bits of exponent, 10 of fraction. */
#if defined(__CUDA_FP16_TYPES_EXIST__)
typedef __half cf_half;
#elif defined(__FLT16_MAX__)
__extension__ typedef _Float16 cf_half;
#else
typedef struct cf_half {
  unsigned short bits;
} cf_half;
#endif

/* Sign, 8 bits of exponent, 7 of fraction. */
#if defined(__CUDA_BF16_TYPES_EXIST__)
typedef __nv_bfloat16 cf_bfloat16;
#elif defined(__BFLT16_MAX__)
__extension__ typedef __bf16 cf_bfloat16;
#else
typedef struct cf_bfloat16 {
  unsigned short bits;
} cf_bfloat16;
#endif

#endif
