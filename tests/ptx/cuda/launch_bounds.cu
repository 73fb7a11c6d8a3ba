// What the author promises of launches: threads, blocks, registers.

// run: at_most_256(in f32[333], out f32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void __launch_bounds__(256) at_most_256(const float *a, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + 1;
}

// run: at_least_two(in f32[333], out f32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void __launch_bounds__(128, 2) at_least_two(const float *a, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] * a[i];
}

// run: few_registers(in f64[1600], out f64[100], i32=100) grid=(1) block=(128)
extern "C" __global__ void __maxnreg__(32) few_registers(const double *a, double *c, int n)
{
    int i = threadIdx.x;
    if (i >= n)
        return;
    double v[16], s = 0;
#pragma unroll
    for (int k = 0; k < 16; k++)
        v[k] = a[16 * i + k];
#pragma unroll
    for (int k = 0; k < 16; k++)
#pragma unroll
        for (int j = 0; j < k; j++)
            s += v[k] * v[j];
    c[i] = s;
}
