// archs: sm_90 sm_100 sm_120
// Bulk copies by the asynchronous engine: one thread asks, a barrier counts bytes.

__device__ __forceinline__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

// run: bulk_round_trip(in f32[1024], out f32[1024]) grid=(4) block=(64)
extern "C" __global__ void bulk_round_trip(const float *a, float *c)
{
    __shared__ alignas(128) float buffer[256];
    __shared__ unsigned long long barrier;
    unsigned b = shared_address(&barrier), s = shared_address(buffer);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;" ::"r"(b) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(1024) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     ::"r"(s), "l"(a + 256 * blockIdx.x), "r"(1024), "r"(b) : "memory");
    }
    __syncthreads();
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%0], 0, 1000; @!p bra again; }"
                 ::"r"(b) : "memory");
    for (int i = threadIdx.x; i < 256; i += 64)
        buffer[i] = buffer[i] * 2 + 1;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(c + 256 * blockIdx.x), "r"(s) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

// Reductions by the same engine: every block adds its numbers to the same place.
// run: bulk_sum(in i32[1024], inout i32[256]) grid=(4) block=(64)
extern "C" __global__ void bulk_sum(const int *a, int *c)
{
    __shared__ alignas(16) int buffer[256];
    for (int i = threadIdx.x; i < 256; i += 64)
        buffer[i] = a[256 * blockIdx.x + i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 1024;"
                     ::"l"(c), "r"(shared_address(buffer)) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
    if (threadIdx.x == 1)
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], 256;" ::"l"(a) : "memory");
}
