// Atomics in shared memory, and histograms made with them.

// run: histogram(in u8[1000], out u32[256], i32=1000) grid=(1) block=(256)
extern "C" __global__ void histogram(const unsigned char *a, unsigned *c, int n)
{
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(&bins[a[i]], 1u);
    __syncthreads();
    c[threadIdx.x] = bins[threadIdx.x];
}

// run: shared_kinds(in i32[256], inout i32[8], inout u64[3]) grid=(1) block=(256)
extern "C" __global__ void shared_kinds(const int *a, int *c, unsigned long long *d)
{
    __shared__ int s[8];
    __shared__ unsigned long long w[3];
    if (threadIdx.x < 8)
        s[threadIdx.x] = c[threadIdx.x];
    if (threadIdx.x < 3)
        w[threadIdx.x] = d[threadIdx.x];
    __syncthreads();
    int x = a[threadIdx.x];
    atomicAdd_block(s + 0, x);
    atomicMin(s + 1, x);
    atomicMax(s + 2, x);
    atomicAnd(s + 3, x | 0xffff);
    atomicOr(s + 4, x & 0x0f0f0f0f);
    atomicXor(s + 5, x);
    atomicInc((unsigned *)s + 6, 1000000u);
    atomicCAS(s + 7, c[7], 99);
    atomicAdd(w + 0, (unsigned long long)x);
    atomicMax(w + 1, (unsigned long long)x);
    atomicXor(w + 2, (unsigned long long)x << 20);
    __syncthreads();
    if (threadIdx.x < 8)
        c[threadIdx.x] = s[threadIdx.x];
    if (threadIdx.x < 3)
        d[threadIdx.x] = w[threadIdx.x];
}

// run: shared_float_sums(in f32[256] whole -9..9, out f32[4], out f64[1]) grid=(1) block=(256)
extern "C" __global__ void shared_float_sums(const float *a, float *c, double *d)
{
    __shared__ float s[4];
    __shared__ double t;
    if (threadIdx.x < 4)
        s[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        t = 0;
    __syncthreads();
    atomicAdd(&s[threadIdx.x % 4], a[threadIdx.x]);
    atomicAdd(&t, 0.5 * a[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x < 4)
        c[threadIdx.x] = s[threadIdx.x];
    if (threadIdx.x == 0)
        *d = t;
}
