// Shuffles of every kind, with widths, of 32 and 64 bits, with the predicate that tells who had a source.

// run: shuffle_kinds(in i32[256], out i32[256]) grid=(2) block=(128)
extern "C" __global__ void shuffle_kinds(const int *a, int *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i];
    int r = __shfl_sync(0xffffffffu, x, 5) + 3 * __shfl_up_sync(0xffffffffu, x, 2);
    r += 5 * __shfl_down_sync(0xffffffffu, x, 7) + 7 * __shfl_xor_sync(0xffffffffu, x, 9);
    r += 11 * __shfl_sync(0xffffffffu, x, x & 31) + 13 * __shfl_down_sync(0xffffffffu, x, 3, 8);
    r += 17 * __shfl_up_sync(0xffffffffu, x, 1, 4) + 19 * __shfl_xor_sync(0xffffffffu, x, 17, 16);
    c[i] = r + 23 * __shfl_sync(0xffffffffu, x, i, 2);
}

// run: shuffle_wide(in f64[96], in i64[96], out f64[96], out i64[96]) grid=(1) block=(96)
extern "C" __global__ void shuffle_wide(const double *a, const long long *b, double *c, long long *d)
{
    int i = threadIdx.x;
    double x = a[i];
    for (int o = 16; o > 0; o /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, o);
    c[i] = x;
    d[i] = __shfl_down_sync(0xffffffffu, b[i], 1) - __shfl_sync(0xffffffffu, b[i], 31 - i % 32);
}

// run: shuffle_predicates(in u32[64], out u32[64]) grid=(1) block=(64)
extern "C" __global__ void shuffle_predicates(const unsigned *a, unsigned *c)
{
    unsigned x = a[threadIdx.x], up, valid;
    asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %2, 3, 0, -1; selp.u32 %1, 1, 0, p; }"
                 : "=r"(up), "=r"(valid) : "r"(x));
    unsigned down = 0;
    asm volatile("{ .reg .pred q; .reg .b32 t; shfl.sync.down.b32 t|q, %1, 2, 0x181f, -1; @q mov.b32 %0, t; }"
                 : "+r"(down) : "r"(x));
    c[threadIdx.x] = up + 3 * valid + down;
}

// An inclusive scan of a block out of scans of warps.
// run: scan(in i32[256], out i32[256]) grid=(1) block=(256)
extern "C" __global__ void scan(const int *a, int *c)
{
    __shared__ int totals[8];
    int lane = threadIdx.x & 31, warp = threadIdx.x / 32, x = a[threadIdx.x];
    for (int o = 1; o < 32; o *= 2) {
        int y = __shfl_up_sync(0xffffffffu, x, o);
        if (lane >= o)
            x += y;
    }
    if (lane == 31)
        totals[warp] = x;
    __syncthreads();
    if (warp == 0 && lane < 8) {
        int t = totals[lane];
        for (int o = 1; o < 8; o *= 2) {
            int y = __shfl_up_sync(0xffu, t, o, 8);
            if (lane >= o)
                t += y;
        }
        totals[lane] = t;
    }
    __syncthreads();
    c[threadIdx.x] = warp ? x + totals[warp - 1] : x;
}

// Only the even lanes take part.
// run: shuffle_of_some(in i32[64], out i32[64]) grid=(1) block=(64)
extern "C" __global__ void shuffle_of_some(const int *a, int *c)
{
    int x = a[threadIdx.x];
    if (threadIdx.x % 2 == 0)
        x += __shfl_xor_sync(0x55555555u, x, 2);
    c[threadIdx.x] = x;
}
