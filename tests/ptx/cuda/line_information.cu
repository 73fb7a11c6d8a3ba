// flags: -lineinfo
// Lines of the source, through functions that are inlined and some that are not.

__device__ __forceinline__ float inlined(float x)
{
    float y = x * x;
    return y + 1;
}

__device__ __forceinline__ float twice(float x) { return inlined(x) + inlined(x + 1); }

__device__ __noinline__ float called(float x)
{
    if (x > 0)
        return twice(x);
    return -x;
}

// run: with_lines(in f32[333], out f32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void with_lines(const float *a, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s = 0;
    for (int k = 0; k < 3; k++)
        s += twice(a[i] + k);
    c[i] = s + called(a[i]);
}
