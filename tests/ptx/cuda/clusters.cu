// archs: sm_90 sm_100 sm_120
// Clusters of blocks: ranks, barriers of the cluster, shared memory of the neighbour.

// run: cluster_ranks(out u32[384]) grid=(6) block=(64)
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_ranks(unsigned *c)
{
    unsigned rank, size, id, number, x;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(id));
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(number));
    asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(x));
    c[blockIdx.x * 64 + threadIdx.x] = rank + 10 * size + 100 * id + 1000 * number + 10000 * x;
}

// run: neighbours(in i32[512], out i32[512]) grid=(8) block=(64)
extern "C" __global__ void __cluster_dims__(4) neighbours(const int *a, int *c)
{
    __shared__ int buffer[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    buffer[threadIdx.x] = a[i];
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    unsigned here = (unsigned)__cvta_generic_to_shared(buffer + 63 - threadIdx.x), rank, there;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"((rank + 1) & 3));
    int x, owner;
    asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(x) : "r"(there) : "memory");
    asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(owner) : "r"(there));
    c[i] = x * 4 + owner;
    asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
}

// Every block adds to the counters of the first, through the generic address and through that of the cluster.
// run: cluster_histogram(in u32[512], out u32[32]) grid=(8) block=(64)
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_histogram(const unsigned *a, unsigned *c)
{
    __shared__ unsigned bins[16];
    if (threadIdx.x < 16)
        bins[threadIdx.x] = 0;
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    unsigned x = a[blockIdx.x * 64 + threadIdx.x];
    unsigned long long generic;
    asm("mapa.u64 %0, %1, 0;" : "=l"(generic) : "l"(bins + (x & 15)));
    if (x & 16)
        atomicAdd((unsigned *)generic, 1u);
    else
        asm volatile("{ .reg .b32 t; mapa.shared::cluster.u32 t, %0, 0; red.shared::cluster.add.u32 [t], 1; }"
                     ::"r"((unsigned)__cvta_generic_to_shared(bins + (x & 15))) : "memory");
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (rank == 0 && threadIdx.x < 16)
        c[blockIdx.x / 4 * 16 + threadIdx.x] = bins[threadIdx.x];
}

// A store that arrives at the barrier of the neighbour.
// run: asynchronous_stores(in u32[128], out u32[128]) grid=(2) block=(64)
extern "C" __global__ void __cluster_dims__(2) asynchronous_stores(const unsigned *a, unsigned *c)
{
    __shared__ unsigned buffer[64];
    __shared__ unsigned long long barrier;
    unsigned b = (unsigned)__cvta_generic_to_shared(&barrier), s = (unsigned)__cvta_generic_to_shared(buffer + threadIdx.x);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(b) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    asm volatile("{ .reg .b32 t, u, r; mov.u32 r, %%cluster_ctarank; xor.b32 r, r, 1;\n\t"
                 "mapa.shared::cluster.u32 t, %0, r; mapa.shared::cluster.u32 u, %1, r;\n\t"
                 "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [t], %2, [u]; }"
                 ::"r"(s), "r"(b), "r"(a[blockIdx.x * 64 + threadIdx.x]) : "memory");
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again; }" ::"r"(b) : "memory");
    c[blockIdx.x * 64 + threadIdx.x] = buffer[threadIdx.x];
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
