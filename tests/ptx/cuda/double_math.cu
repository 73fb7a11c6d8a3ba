// Double precision that IEEE 754 determines to the last bit.

// run: double_roundings(in f64[1000], in f64[1000], out f64[1000], i32=1000) grid=(8) block=(128)
extern "C" __global__ void double_roundings(const double *a, const double *b, double *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double x = a[i], y = b[i];
    double s = __dadd_rz(x, y) + __dmul_ru(x, y) + __fma_rd(x, y, x) + __dsub_rn(y, x);
    c[i] = s + fmin(x, y) * fmax(x, -y) + fabs(x) - copysign(y, x);
}

// run: double_divisions(in f64[333], in f64[333] 0.5..9, out f64[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void double_divisions(const double *a, const double *b, double *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    c[i] = a[i] / b[i] + sqrt(b[i]) + 1.0 / b[i] + __ddiv_rz(b[i], a[i]) + __dsqrt_ru(b[i]);
}

// run: double_to_whole(in f64[333] -5e9..5e9, out i64[333], out f64[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void double_to_whole(const double *a, long long *c, double *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double x = a[i] * 0.001;
    c[i] = __double2ll_rd(x) + 3 * __double2ll_ru(x) + 5 * __double2int_rn(x) + 7LL * (unsigned)fabs(x) + llrint(x)
         + __double2hiint(x) + __double2loint(x);
    d[i] = floor(x) + 3 * ceil(x) + 5 * trunc(x) + 7 * rint(x) + (double)(float)x + __hiloint2double(i + (1 << 30), i);
}

// The library's own polynomials: no approximate instruction but the first guess of a reciprocal.
// run: double_library(in f64[333] 0.1..3, out f64[333], i32=333) grid=(3) block=(128) approx=1e-13
extern "C" __global__ void double_library(const double *a, double *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    c[i] = exp(a[i]) + log(a[i]) + sin(a[i]) + cos(3 * a[i]) + pow(a[i], 1.5) + atan2(a[i], 2.0) + cbrt(a[i]) + erf(a[i]);
}
