// archs: sm_90 sm_100 sm_120
// Barriers in shared memory: arriving, expecting bytes, waiting by phase, with copies that arrive.

__device__ __forceinline__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void wait(unsigned barrier, unsigned phase)
{
    asm volatile("{\n\t"
                 ".reg .pred p;\n"
                 "again:\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n\t"
                 "@p bra done;\n\t"
                 "bra.uni again;\n"
                 "done:\n\t"
                 "}" ::"r"(barrier), "r"(phase) : "memory");
}

// run: phases(in i32[128], out i32[128]) grid=(1) block=(128)
extern "C" __global__ void phases(const int *a, int *c)
{
    __shared__ unsigned long long barrier;
    __shared__ int buffer[128];
    unsigned b = shared_address(&barrier);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(128) : "memory");
    __syncthreads();
    int x = a[threadIdx.x];
    for (unsigned phase = 0; phase < 4; phase++) {
        buffer[threadIdx.x] = x;
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(b) : "memory");
        wait(b, phase & 1);
        x = x * 3 + buffer[(threadIdx.x + 31 * phase + 1) % 128];
        __syncthreads();
    }
    c[threadIdx.x] = x;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(b) : "memory");
}

// The token of an arrival, a test instead of a wait, and arrivals counted by what is pending.
// run: tokens(in i32[64], out i32[64]) grid=(1) block=(64)
extern "C" __global__ void tokens(const int *a, int *c)
{
    __shared__ unsigned long long barrier;
    __shared__ int buffer[64];
    unsigned b = shared_address(&barrier), ready, pending;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 65;" ::"r"(b) : "memory");
    __syncthreads();
    buffer[threadIdx.x] = a[threadIdx.x];
    unsigned long long token;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.noComplete.b64 %0, [%1], 1;" : "=l"(token) : "l"(&barrier) : "memory");
        asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(token));
        buffer[0] += pending > 0;
    }
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(b) : "memory");
    do
        asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(ready) : "r"(b), "l"(token) : "memory");
    while (!ready);
    c[threadIdx.x] = buffer[63 - threadIdx.x];
}

// run: copies_that_arrive(in u32[256], out u32[256]) grid=(1) block=(64)
extern "C" __global__ void copies_that_arrive(const uint4 *a, uint4 *c)
{
    __shared__ unsigned long long barrier;
    __shared__ uint4 buffer[64];
    unsigned b = shared_address(&barrier);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(b) : "memory");
    __syncthreads();
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(buffer + threadIdx.x)), "l"(a + threadIdx.x)
                 : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(b) : "memory");
    wait(b, 0);
    c[threadIdx.x] = buffer[threadIdx.x ^ 33];
}
