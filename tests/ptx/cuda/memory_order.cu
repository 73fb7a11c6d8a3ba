// Orders and scopes: fences, acquire and release, atomics of system, device and block.

// run: scopes(in i32[1000], inout u32[6], inout u64[2], i32=1000) grid=(8) block=(128)
extern "C" __global__ void scopes(const unsigned *a, unsigned *c, unsigned long long *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicAdd_system(c + 0, a[i]);
    atomicMax_system(c + 1, a[i]);
    atomicXor_system(d + 0, (unsigned long long)a[i]);
    asm volatile("atom.acq_rel.gpu.global.add.u32 _, [%0], %1;" ::"l"(c + 2), "r"(a[i]) : "memory");
    asm volatile("atom.relaxed.sys.global.or.b32 _, [%0], %1;" ::"l"(c + 3), "r"(a[i] & 0xff) : "memory");
    asm volatile("red.relaxed.gpu.global.min.s32 [%0], %1;" ::"l"(c + 4), "r"(a[i]) : "memory");
    asm volatile("red.release.cta.and.b32 [%0], %1;" ::"l"(c + 5), "r"(a[i] | 0xfff) : "memory");
    asm volatile("red.global.add.u64 [%0], %1;" ::"l"(d + 1), "l"((unsigned long long)a[i] << 8) : "memory");
}

// One block produces, the other waits for its flag.
// run: handover(in f32[256], out f32[256], inout u32[1] 0..0) grid=(2) block=(256)
extern "C" __global__ void handover(const float *a, float *c, unsigned *flag)
{
    int i = threadIdx.x;
    if (blockIdx.x == 0) {
        c[i] = a[i] * 2;
        __threadfence();
        __syncthreads();
        if (i == 0)
            asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
    } else {
        unsigned seen;
        if (i == 0)
            do
                asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
            while (!seen);
        __syncthreads();
        float other;
        asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(other) : "l"(c + 255 - i) : "memory");
        // Each pair of places is rewritten by the one thread of the second block that owns it.
        if (i < 128) {
            float mine;
            asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(mine) : "l"(c + i) : "memory");
            asm volatile("st.relaxed.gpu.global.f32 [%0], %1;" ::"l"(c + i), "f"(mine + other) : "memory");
        }
    }
}

// The last block to arrive adds what all have left.
__device__ unsigned arrived = 0;

// run: last_block(in i32[1000], out i32[8], out i32[1], i32=1000) grid=(8) block=(128)
extern "C" __global__ void last_block(const int *a, volatile int *partial, int *total, int n)
{
    __shared__ int sum;
    __shared__ bool last;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    if (i < n)
        atomicAdd(&sum, a[i]);
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int all = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            all += partial[b];
        *total = all;
    }
}

// run: fences(inout i32[64]) grid=(1) block=(64)
extern "C" __global__ void fences(int *c)
{
    c[threadIdx.x] += 1;
    __threadfence_block();
    __threadfence_system();
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    asm volatile("fence.sc.sys;" ::: "memory");
    asm volatile("membar.cta;" ::: "memory");
    c[threadIdx.x] *= 3;
}
