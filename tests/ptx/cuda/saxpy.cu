// The first kernel of every course, with and without read-only pointers.

// run: saxpy(i32=1000, f32=2.5, in f32[1000], inout f32[1000]) grid=(8) block=(128)
extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

// run: saxpy_read_only(i32=333, f32=-0.5, in f32[333], in f32[333], out f32[333]) grid=(3) block=(128)
extern "C" __global__ void saxpy_read_only(int n, float a, const float *__restrict__ x,
                                           const float *__restrict__ y, float *__restrict__ z)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        z[i] = fmaf(a, __ldg(x + i), y[i]);
}

// run: saxpy_strided(u32=1000, f64=1.25, in f64[1000], inout f64[1000]) grid=(2) block=(96)
extern "C" __global__ void saxpy_strided(unsigned n, double a, const double *x, double *y)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] += a * x[i];
}
