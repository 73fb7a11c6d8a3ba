// archs: sm_90 sm_100
// A stencil of order 16 in three dimensions, in the style that keeps planes in registers and goes along z.
// run: planes(in f32[15360], out f32[15360], i32=24, i32=20, i32=32) grid=(2,2) block=(16,8)
// run: planes_shared(in f32[15360], out f32[15360], i32=24, i32=20, i32=32) grid=(2,2) block=(16,8) smem=512

#define RADIUS 8

__device__ __forceinline__ void along_z(const float *__restrict__ a, float *b, int nx, int ny, int nz, float *shared) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < RADIUS || y < 2 || x >= nx - RADIUS || y >= ny - 2) return;
    float column[4][2 * RADIUS + 1];
    int plane = nx * ny, at = y * nx + x;
#pragma unroll
    for (int c = 0; c < 4; c++)
#pragma unroll
        for (int k = 0; k < 2 * RADIUS + 1; k++) column[c][k] = a[k * plane + at + c];
    for (int z = RADIUS; z < nz - RADIUS; z++) {
        float sum = shared == nullptr ? 0.f : shared[threadIdx.y * 16 + threadIdx.x];
#pragma unroll
        for (int c = 0; c < 4; c++)
#pragma unroll
            for (int k = 0; k < 2 * RADIUS + 1; k++) sum = sum * column[c][k] + (k + 1) * column[3 - c][2 * RADIUS - k];
        b[z * plane + at] = sum;
        if (z + 1 < nz - RADIUS) {
#pragma unroll
            for (int c = 0; c < 4; c++) {
#pragma unroll
                for (int k = 0; k < 2 * RADIUS; k++) column[c][k] = column[c][k + 1];
                column[c][2 * RADIUS] = a[(z + 1 + RADIUS) * plane + at + c];
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(128)
planes(const float *__restrict__ a, float *b, int nx, int ny, int nz) {
    along_z(a, b, nx, ny, nz, nullptr);
}

extern "C" __global__ void __launch_bounds__(128)
planes_shared(const float *__restrict__ a, float *b, int nx, int ny, int nz) {
    extern __shared__ float shared[];
    shared[threadIdx.y * 16 + threadIdx.x] = threadIdx.x * 0.25f;
    along_z(a, b, nx, ny, nz, shared);
}
