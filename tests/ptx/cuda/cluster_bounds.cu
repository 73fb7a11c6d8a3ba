// archs: sm_90 sm_100 sm_120
// Clusters promised or bounded, and blocks of a size known to the compiler.

// run: bounded_clusters(in i32[512], out i32[512]) grid=(4) block=(128)
extern "C" __global__ void __launch_bounds__(128, 2, 4) bounded_clusters(const int *a, int *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + 1;
}

// run: explicit_clusters(out u32[128]) grid=(2,2,1) block=(8,4,1)
extern "C" __global__ void __cluster_dims__(1, 2, 1) explicit_clusters(unsigned *c)
{
    unsigned y, n;
    asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(y));
    asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(n));
    c[(blockIdx.y * 2 + blockIdx.x) * 32 + threadIdx.y * 8 + threadIdx.x] = y + 10 * n;
}

// run: known_block(in i32[64], out i32[64]) grid=(1) block=(64)
extern "C" __global__ void __block_size__((64, 1, 1)) known_block(const int *a, int *c)
{
    c[threadIdx.x] = a[threadIdx.x] * (int)blockDim.x;
}
