// Truth values: parameters, results, arrays, memory, and long conditions that become predicates.

__device__ __noinline__ bool majority(bool a, bool b, bool c) { return (a && b) || (b && c) || (a && c); }
__device__ __noinline__ int chosen(bool which, int a, int b) { return which ? a : b; }
__device__ __noinline__ void toggle(bool *flag) { *flag = !*flag; }

// run: truth(in u8[333] 0..1, in u8[333] 0..1, in i32[333], out u8[333], out i32[333], u8=1, i32=333) grid=(3) block=(128)
extern "C" __global__ void truth(const bool *a, const bool *b, const int *x, bool *c, int *d, bool all, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    bool flag = majority(a[i], b[i], x[i] > 0);
    bool seen[3] = {flag, a[i], !b[i]};
    toggle(&seen[i % 3]);
    c[i] = seen[0] ^ seen[1] ^ seen[2] ^ all;
    d[i] = chosen(flag, x[i], -x[i]) + chosen(a[i] && !b[i], 1, 2) + (a[i] | b[i]) * 3;
}

// run: comparisons(in i32[333] -3..3, in u32[333] 0..3, in i64[333] -3..3, out u32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void comparisons(const int *a, const unsigned *b, const long long *l, unsigned *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = a[i];
    unsigned y = b[i];
    long long z = l[i];
    unsigned r = (x < 1) | (x <= 1) << 1 | (x > 1) << 2 | (x >= 1) << 3 | (y < 2) << 4 | (y <= 2) << 5 | (y > 2) << 6;
    r |= (z == x) << 7 | (z != x) << 8 | (z < y) << 9 | ((unsigned)x > y) << 10 | ((short)x == (short)y) << 11;
    if ((x > 0) != (z > 0) && (y == 1 || y == 2) && !(x == 2))
        r |= 1 << 12;
    c[i] = r;
}
