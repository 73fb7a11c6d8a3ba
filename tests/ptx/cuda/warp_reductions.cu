// archs: sm_90 sm_100 sm_120
// Reductions of a warp in one instruction.

// run: warp_reductions(in i32[128], out i32[128], out u32[128]) grid=(1) block=(128)
extern "C" __global__ void warp_reductions(const int *a, int *c, unsigned *d)
{
    int x = a[threadIdx.x];
    c[threadIdx.x] = __reduce_add_sync(~0u, x) ^ __reduce_min_sync(~0u, x) ^ __reduce_max_sync(~0u, x);
    unsigned u = x;
    d[threadIdx.x] = __reduce_min_sync(~0u, u) ^ __reduce_and_sync(~0u, u | 0xff00ff) ^ __reduce_or_sync(~0u, u & 0x0ff0)
                   ^ __reduce_xor_sync(~0u, u) ^ __reduce_max_sync(~0u, u);
}
