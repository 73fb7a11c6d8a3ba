// Barriers with names, with counts, of part of a block, that reduce.

// run: counting_barriers(in i32[256], out i32[256]) grid=(2) block=(128)
extern "C" __global__ void counting_barriers(const int *a, int *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int r = __syncthreads_count(a[i] > 0);
    r = r * 2 + __syncthreads_and(a[i] != 12345);
    c[i] = r * 2 + __syncthreads_or(a[i] % 64 == 1);
}

// The first warps produce and the last two consume, each pair by a barrier of its own.
// run: producers(in i32[128], out i32[64]) grid=(1) block=(128)
extern "C" __global__ void producers(const int *a, int *c)
{
    __shared__ int buffer[64];
    int warp = threadIdx.x / 32;
    if (warp < 2) {
        buffer[threadIdx.x] = a[threadIdx.x] * 3;
        asm volatile("bar.arrive %0, 64;" ::"r"(1 + warp) : "memory");
    } else {
        asm volatile("bar.sync %0, 64;" ::"r"(warp - 1) : "memory");
        c[threadIdx.x - 64] = buffer[(threadIdx.x - 64) ^ 7] + a[threadIdx.x];
    }
}

// run: reducing_barriers(in i32[64], out u32[64]) grid=(1) block=(64)
extern "C" __global__ void reducing_barriers(const int *a, unsigned *c)
{
    unsigned population, all, any;
    int x = a[threadIdx.x];
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 5; barrier.cta.red.popc.u32 %0, 0, p; }" : "=r"(population) : "r"(x));
    asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 5; bar.red.and.pred q, 3, 64, p; selp.u32 %0, 1, 0, q; }"
                 : "=r"(all) : "r"(x));
    asm volatile("{ .reg .pred p, q; setp.eq.s32 p, %1, 5; barrier.red.or.pred q, 2, !p; selp.u32 %0, 1, 0, q; }"
                 : "=r"(any) : "r"(x));
    asm volatile("barrier.cta.sync 5; bar.warp.sync 0xffffffff; barrier.sync.aligned 6, 64;" ::: "memory");
    c[threadIdx.x] = population * 4 + all * 2 + any;
}
