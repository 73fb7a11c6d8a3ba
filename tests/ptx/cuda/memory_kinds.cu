// Volatile accesses, cache operators, hints, prefetches, and generic addresses of every space.

// run: volatile_accesses(inout i32[128]) grid=(1) block=(128)
extern "C" __global__ void volatile_accesses(volatile int *c)
{
    __shared__ volatile int s[128];
    s[threadIdx.x] = c[threadIdx.x];
    __syncthreads();
    int x = s[127 - threadIdx.x];
    x += s[127 - threadIdx.x];
    c[threadIdx.x] = x;
    c[threadIdx.x] = c[threadIdx.x] + 1;
}

// run: cache_operators(in i32[333], in f32[1332], out i32[333], out f32[1332], i32=333) grid=(3) block=(128)
extern "C" __global__ void cache_operators(const int *a, const float4 *b, int *c, float4 *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = __ldcg(a + i) + __ldca(a + i) * 2 + __ldcs(a + i) * 3 + __ldlu(a + i) * 5 + __ldcv(a + i) * 7 + __ldg(a + i);
    __stcg(c + i, x);
    __stwb(c + i, x + 1);
    __stcs(c + i, x + 2);
    __stwt(c + i, x + 3);
    float4 v = __ldcs(b + i);
    __stcg(d + i, make_float4(v.y, v.x, v.w, v.z));
}

// run: hints(in f32[128], out f32[128]) grid=(1) block=(128)
extern "C" __global__ void hints(const float *a, float *c)
{
    float x, y;
    asm volatile("prefetch.global.L1 [%0]; prefetchu.L1 [%0]; prefetch.global.L2 [%0+64];" ::"l"(a + threadIdx.x));
    asm volatile("ld.global.L1::no_allocate.f32 %0, [%1];" : "=f"(x) : "l"(a + threadIdx.x));
    asm volatile("ld.global.nc.L1::evict_last.f32 %0, [%1];" : "=f"(y) : "l"(a + (threadIdx.x ^ 1)));
    float z;
    asm volatile("ldu.global.f32 %0, [%1];" : "=f"(z) : "l"(a));
    asm volatile("st.global.L1::no_allocate.f32 [%0], %1;" ::"l"(c + threadIdx.x), "f"(x - y + z) : "memory");
}

__device__ __noinline__ int read_generic(const int *p) { return *p; }

__constant__ int in_constant[4] = {5, 6, 7, 8};
__device__ int in_global[4] = {50, 60, 70, 80};

// run: generic_addresses(in i32[128], out i32[128]) grid=(1) block=(128)
extern "C" __global__ void generic_addresses(const int *a, int *c)
{
    __shared__ int in_shared[128];
    int in_local[3] = {(int)threadIdx.x, 2, 3};
    in_shared[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    const int *p;
    switch (threadIdx.x % 5) {
    case 0: p = in_shared + (threadIdx.x * 3) % 128; break;
    case 1: p = in_local + threadIdx.x % 3; break;
    case 2: p = in_constant + threadIdx.x % 4; break;
    case 3: p = in_global + threadIdx.x % 4; break;
    default: p = a + threadIdx.x;
    }
    int kind = __isGlobal(p) + 2 * __isShared(p) + 4 * __isLocal(p) + 8 * __isConstant(p);
    c[threadIdx.x] = read_generic(p) * 16 + kind;
}
