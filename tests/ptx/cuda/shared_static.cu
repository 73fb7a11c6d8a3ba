// Static shared memory: transposition, reductions, several arrays, a struct, an array in a function.

// run: transpose(in f32[1485], out f32[1485], i32=45, i32=33) grid=(3,2) block=(16,16)
extern "C" __global__ void transpose(const float *a, float *c, int width, int height)
{
    __shared__ float tile[16][17];
    for (int y0 = blockIdx.y * 32; y0 < blockIdx.y * 32 + 32; y0 += 16) {
        int x = blockIdx.x * 16 + threadIdx.x, y = y0 + threadIdx.y;
        if (x < width && y < height)
            tile[threadIdx.y][threadIdx.x] = a[y * width + x];
        __syncthreads();
        int u = y0 + threadIdx.x, v = blockIdx.x * 16 + threadIdx.y;
        if (u < height && v < width)
            c[v * height + u] = tile[threadIdx.x][threadIdx.y];
        __syncthreads();
    }
}

// run: block_sum(in f32[1000], out f32[4], i32=1000) grid=(4) block=(256)
extern "C" __global__ void block_sum(const float *a, float *c, int n)
{
    __shared__ float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? a[i] : 0.0f;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            s[threadIdx.x] += s[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        c[blockIdx.x] = s[0];
}

struct Particle { double mass; short charge; char kind; };

__device__ __noinline__ int private_scratch(int x)
{
    __shared__ int scratch[96];
    scratch[threadIdx.x] = x;
    __syncthreads();
    return scratch[(threadIdx.x + 1) % 96];
}

// run: several_arrays(in i32[96], out f64[96], out i32[96]) grid=(1) block=(96)
extern "C" __global__ void several_arrays(const int *a, double *c, int *d)
{
    __shared__ Particle particles[96];
    __shared__ unsigned char marks[100];
    __shared__ int2 pairs[48];
    int i = threadIdx.x;
    particles[i] = {a[i] * 0.5, (short)a[i], (char)(a[i] >> 16)};
    marks[i] = (unsigned char)(a[i] >> 8);
    if (i % 2 == 0)
        pairs[i / 2] = make_int2(a[i], a[i + 1]);
    __syncthreads();
    Particle p = particles[95 - i];
    c[i] = p.mass + p.charge * p.kind;
    d[i] = marks[(i * 7) % 96] + pairs[i % 48].y + private_scratch(a[i]);
}

// run: matrix_product(in f32[1665], in f32[1295], out f32[1575], i32=45, i32=35, i32=37) grid=(3,3) block=(16,16)
extern "C" __global__ void matrix_product(const float *a, const float *b, float *c, int rows, int columns, int inner)
{
    __shared__ float at[16][16], bt[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float s = 0;
    for (int k0 = 0; k0 < inner; k0 += 16) {
        int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
        at[threadIdx.y][threadIdx.x] = row < rows && ka < inner ? a[row * inner + ka] : 0.0f;
        bt[threadIdx.y][threadIdx.x] = kb < inner && column < columns ? b[kb * columns + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 16; k++)
            s += at[threadIdx.y][k] * bt[k][threadIdx.x];
        __syncthreads();
    }
    if (row < rows && column < columns)
        c[row * columns + column] = s;
}
