// Stencils, which are what most kernels of simulations are.

// run: laplacian(in f32[1073], out f32[1073], i32=37, i32=29, f32=0.2) grid=(2,4) block=(32,8)
extern "C" __global__ void laplacian(const float *__restrict__ a, float *__restrict__ c, int nx, int ny, float k)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny)
        return;
    int at = y * nx + x;
    if (x == 0 || y == 0 || x == nx - 1 || y == ny - 1) {
        c[at] = a[at];
        return;
    }
    c[at] = a[at] + k * (a[at - 1] + a[at + 1] + a[at - nx] + a[at + nx] - 4 * a[at]);
}

// A plane is kept in shared memory, the column in registers.
// run: seven_points(in f64[2640], out f64[2640], i32=20, i32=12, i32=11) grid=(2,2) block=(16,8)
extern "C" __global__ void seven_points(const double *__restrict__ a, double *__restrict__ c, int nx, int ny, int nz)
{
    __shared__ double plane[10][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1, size = nx * ny;
    bool inside = x < nx && y < ny;
    double below = 0, here = inside ? a[y * nx + x] : 0.0;
    for (int z = 0; z < nz; z++) {
        double above = inside && z + 1 < nz ? a[(z + 1) * size + y * nx + x] : 0.0;
        plane[ty][tx] = here;
        if (tx == 1)
            plane[ty][0] = x > 0 && inside ? a[z * size + y * nx + x - 1] : 0.0;
        if (tx == 16)
            plane[ty][17] = x + 1 < nx && inside ? a[z * size + y * nx + x + 1] : 0.0;
        if (ty == 1)
            plane[0][tx] = y > 0 && inside ? a[z * size + (y - 1) * nx + x] : 0.0;
        if (ty == 8)
            plane[9][tx] = y + 1 < ny && inside ? a[z * size + (y + 1) * nx + x] : 0.0;
        __syncthreads();
        if (inside)
            c[z * size + y * nx + x] = above + below + plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx]
                                     + plane[ty + 1][tx] - 6 * here;
        __syncthreads();
        below = here;
        here = above;
    }
}

// run: game_of_life(in u8[1073] 0..1, out u8[1073], i32=37, i32=29) grid=(2,4) block=(32,8)
extern "C" __global__ void game_of_life(const unsigned char *a, unsigned char *c, int nx, int ny)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny)
        return;
    int living = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy)
                living += a[(y + dy + ny) % ny * nx + (x + dx + nx) % nx];
    c[y * nx + x] = living == 3 || (living == 2 && a[y * nx + x]);
}

// Five taps along x, whose loads overlap from thread to thread.
// run: five_taps(in f32[1004], out f32[1000], i32=1000) grid=(8) block=(128)
extern "C" __global__ void five_taps(const float *__restrict__ a, float *__restrict__ c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = 0.0625f * a[i] + 0.25f * a[i + 1] + 0.375f * a[i + 2] + 0.25f * a[i + 3] + 0.0625f * a[i + 4];
}
