// Votes, matches and the masks of a warp.

// run: votes(in i32[256], out u32[256]) grid=(2) block=(128)
extern "C" __global__ void votes(const int *a, unsigned *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i];
    unsigned r = __ballot_sync(0xffffffffu, x > 0);
    r += __all_sync(0xffffffffu, x != 77) + 2 * __any_sync(0xffffffffu, x % 50 == 0);
    r += 4 * __uni_sync(0xffffffffu, x > -1000000);
    if (x & 1)
        r ^= __ballot_sync(__activemask(), x & 2);
    c[i] = r;
}

// run: matches(in i32[128] 0..4, in i64[128] 0..2, out u32[128], out i32[128]) grid=(1) block=(128)
extern "C" __global__ void matches(const int *a, const long long *b, unsigned *c, int *d)
{
    int i = threadIdx.x, same;
    c[i] = __match_any_sync(0xffffffffu, a[i]) ^ __match_any_sync(0xffffffffu, b[i] << 40);
    unsigned all = __match_all_sync(0xffffffffu, a[i & ~31], &same);
    d[i] = same + (int)all;
    all = __match_all_sync(0xffffffffu, b[i], &same);
    d[i] += 5 * same + (int)all;
}

// run: masks(out u32[64]) grid=(1) block=(64)
extern "C" __global__ void masks(unsigned *c)
{
    unsigned eq, lt, le, gt, ge, lane;
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
    asm("mov.u32 %0, %%lanemask_le;" : "=r"(le));
    asm("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
    asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    c[threadIdx.x] = (eq ^ 3 * lt ^ 5 * le) + 7 * gt + (ge >> 1) + lane;
}

// A stable partition of a warp by a predicate.
// run: partition(in i32[64], out i32[64]) grid=(1) block=(64)
extern "C" __global__ void partition(const int *a, int *c)
{
    unsigned lane = threadIdx.x & 31, below = (1u << lane) - 1;
    bool first = a[threadIdx.x] < 0;
    unsigned ballot = __ballot_sync(~0u, first);
    unsigned place = first ? __popc(ballot & below) : __popc(ballot) + __popc(~ballot & below);
    c[(threadIdx.x & ~31) + place] = a[threadIdx.x];
}
