// Special registers: those that are determined are stored, the others only read.

// run: determined(out u32[96]) grid=(2,1,3) block=(4,2,2)
extern "C" __global__ void determined(unsigned *c)
{
    unsigned lane, warp, warps, grid;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(warps));
    asm("mov.u32 %0, %%nctaid.z;" : "=r"(grid));
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    c[block * 16 + thread] = lane + 100 * grid + 1000 * (warps >= 1) + 10000 * (warp < warps) + 100000 * warpSize;
}

extern "C" __global__ void clocks(long long *c, unsigned *d)
{
    long long start = clock64();
    unsigned low = clock();
    unsigned long long ns, time, id;
    unsigned sm, sms, timer, high, e0, size, total;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(timer));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(time));
    asm volatile("mov.u32 %0, %%clock_hi;" : "=r"(high));
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(sms));
    asm volatile("mov.u64 %0, %%gridid;" : "=l"(id));
    asm volatile("mov.b32 %0, %%envreg3;" : "=r"(e0));
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(size));
    asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(total));
    asm volatile("mov.u32 %0, %%pm0;" : "=r"(low));
    __nanosleep(100);
    c[threadIdx.x] = clock64() - start + (long long)(ns + time + id);
    d[threadIdx.x] = low + sm + sms + timer + high + e0 + size + total;
}

// Indices in three dimensions.
// run: volume(in f32[1155], out f32[1155], i32=11, i32=15, i32=7) grid=(2,3,4) block=(8,5,2)
extern "C" __global__ void volume(const float *a, float *c, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz)
        return;
    int at = (z * ny + y) * nx + x;
    float s = 2 * a[at];
    if (x > 0)
        s -= a[at - 1];
    if (y < ny - 1)
        s += a[at + nx];
    if (z > 0 && z < nz - 1)
        s += a[at - nx * ny] * a[at + nx * ny];
    c[at] = s;
}
