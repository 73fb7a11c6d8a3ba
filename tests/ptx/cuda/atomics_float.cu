// Atomic sums of floats. The values are whole and small, so that every order gives the same sum.
#include <cuda_fp16.h>

// run: sums_of_floats(in f32[1000] whole -9..9, inout f32[5] whole 0..9, inout f64[3] whole 0..9, i32=1000) grid=(8) block=(128)
extern "C" __global__ void sums_of_floats(const float *a, float *f, double *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicAdd(f + i % 5, a[i]);
    atomicAdd(d + i % 3, (double)a[i] * 4096);
}

// run: sums_of_halves(in f32[333] whole 0..3, inout f16[6] whole 0..1, inout f16[1] whole 0..1, i32=333) grid=(3) block=(128)
extern "C" __global__ void sums_of_halves(const float *a, __half2 *pairs, __half *single, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicAdd(pairs + i % 3, __floats2half2_rn(a[i], 1.0f));
    atomicAdd(single, __float2half(a[i]));
}

// The old value is used: a running count in floats.
// run: float_tickets(out i32[333], inout f32[1] 0..0, i32=333) grid=(3) block=(128)
extern "C" __global__ void float_tickets(int *marks, float *counter, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        marks[(int)atomicAdd(counter, 1.0f)] = 1;
}

// The largest float of positive ones through integers, and a float exchanged.
// run: largest_float(in f32[333] 0..100, inout f32[1] 0..0, inout f32[1] 0..0, i32=333) grid=(3) block=(128)
extern "C" __global__ void largest_float(const float *a, float *m, float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicMax((int *)m, __float_as_int(a[i]));
    atomicExch(x, 2.5f);
}
