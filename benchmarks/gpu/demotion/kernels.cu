// Kernels that keep many values in registers, of the kinds in which people meet that limit.

// Products of matrices with 16 by 16 sums a thread, 256 registers alone: no limit of registers is without spills.
// run: product16(in f32[384], in f32[384], out f32[16384], i32=128, i32=128, i32=3) grid=(1,1) block=(8,8)
// time: product16(in f32[2097152], in f32[2097152], out f32[16777216], i32=4096, i32=4096, i32=512) grid=(32,32) block=(8,8)
extern "C" __global__ void __launch_bounds__(64)
product16(const float4 *__restrict__ a, const float4 *__restrict__ b, float *c, int m, int n, int steps) {
    int row = (blockIdx.y * 8 + threadIdx.y) * 16, column = (blockIdx.x * 8 + threadIdx.x) * 16;
    float s[16][16] = {};
#pragma unroll 1
    for (int k = 0; k < steps; k++) {
        float4 x[4], y[4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            x[j] = a[(k * m + row) / 4 + j];
            y[j] = b[(k * n + column) / 4 + j];
        }
#pragma unroll
        for (int p = 0; p < 16; p++)
#pragma unroll
            for (int q = 0; q < 16; q++) s[p][q] += (&x[p / 4].x)[p % 4] * (&y[q / 4].x)[q % 4];
    }
#pragma unroll
    for (int p = 0; p < 16; p++)
#pragma unroll
        for (int q = 0; q < 16; q++) c[(row + p) * n + column + q] = s[p][q];
}

// The same in double precision, with 8 by 8 sums a thread.
// run: product8_double(in f64[384], in f64[192], out f64[8192], i32=128, i32=64, i32=3) grid=(1,1) block=(8,16)
// time: product8_double(in f64[2621440], in f64[2621440], out f64[4194304], i32=2048, i32=2048, i32=1280) grid=(32,16) block=(8,16)
extern "C" __global__ void __launch_bounds__(128)
product8_double(const double2 *__restrict__ a, const double2 *__restrict__ b, double *c, int m, int n, int steps) {
    int row = (blockIdx.y * 16 + threadIdx.y) * 8, column = (blockIdx.x * 8 + threadIdx.x) * 8;
    double s[8][8] = {};
#pragma unroll 1
    for (int k = 0; k < steps; k++) {
        double2 x[4], y[4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            x[j] = a[(k * m + row) / 2 + j];
            y[j] = b[(k * n + column) / 2 + j];
        }
#pragma unroll
        for (int p = 0; p < 8; p++)
#pragma unroll
            for (int q = 0; q < 8; q++) s[p][q] += (&x[p / 2].x)[p % 2] * (&y[q / 2].x)[q % 2];
    }
#pragma unroll
    for (int p = 0; p < 8; p++)
#pragma unroll
        for (int q = 0; q < 8; q++) c[(row + p) * n + column + q] = s[p][q];
}

// N sums a thread that are live through a loop.
template <int N>
__device__ __forceinline__ void sums(const float *__restrict__ a, const float *__restrict__ b, float *c, int n, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s[N];
#pragma unroll
    for (int j = 0; j < N; j++) s[j] = a[(i + j) % 64];
#pragma unroll 1
    for (int t = 0; t < steps; t++) {
        float x = a[t * n + i];
#pragma unroll
        for (int j = 0; j < N; j++) s[j] = s[j] * x + b[t * N + j];
    }
    float r = 0;
#pragma unroll
    for (int j = 0; j < N; j++) r += s[j] * s[(7 * j + 3) % N];
    c[i] = r;
}

// 128 sums a thread that are live through a loop.
// run: sums128(in f32[600], in f32[384], out f32[200], i32=200, i32=3) grid=(2) block=(128)
// time: sums128(in f32[21626880], in f32[5120], out f32[540672], i32=540672, i32=40) grid=(4224) block=(128)
extern "C" __global__ void __launch_bounds__(128)
sums128(const float *__restrict__ a, const float *__restrict__ b, float *c, int n, int steps) {
    sums<128>(a, b, c, n, steps);
}

// 320 sums a thread that are live through a loop, more than there are registers.
// run: sums320(in f32[300], in f32[960], out f32[100], i32=100, i32=3) grid=(1) block=(128)
// time: sums320(in f32[8650752], in f32[10240], out f32[270336], i32=270336, i32=32) grid=(2112) block=(128)
extern "C" __global__ void __launch_bounds__(128)
sums320(const float *__restrict__ a, const float *__restrict__ b, float *c, int n, int steps) {
    sums<320>(a, b, c, n, steps);
}

// 27 points of three planes around each of 4 by 2 points of a thread, which goes along z.
// run: box27(in f32[7200], out f32[7200], i32=40, i32=18, i32=10) grid=(1,1) block=(16,8)
// time: box27(in f32[169085440], out f32[169085440], i32=1028, i32=514, i32=320) grid=(16,32) block=(16,8)
extern "C" __global__ void __launch_bounds__(128)
box27(const float *__restrict__ a, float *b, int nx, int ny, int nz) {
    int x = 1 + 4 * (blockIdx.x * 16 + threadIdx.x), y = 1 + 2 * (blockIdx.y * 8 + threadIdx.y);
    if (x + 4 >= nx || y + 2 >= ny) return;
    int plane = nx * ny, at = y * nx + x;
    float w[3][4][6];
#pragma unroll
    for (int z = 0; z < 2; z++)
#pragma unroll
        for (int r = 0; r < 4; r++)
#pragma unroll
            for (int q = 0; q < 6; q++) w[z + 1][r][q] = a[z * plane + at + (r - 1) * nx + q - 1];
#pragma unroll 1
    for (int z = 1; z < nz - 1; z++) {
#pragma unroll
        for (int r = 0; r < 4; r++)
#pragma unroll
            for (int q = 0; q < 6; q++) {
                w[0][r][q] = w[1][r][q];
                w[1][r][q] = w[2][r][q];
                w[2][r][q] = a[(z + 1) * plane + at + (r - 1) * nx + q - 1];
            }
#pragma unroll
        for (int p = 0; p < 2; p++)
#pragma unroll
            for (int o = 0; o < 4; o++) {
                float sum = 0;
#pragma unroll
                for (int k = 0; k < 27; k++) {
                    int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
                    sum += w[1 + dz][1 + p + dy][1 + o + dx] / (1 << (dx * dx + dy * dy + dz * dz));
                }
                b[z * plane + at + p * nx + o] = sum;
            }
    }
}

// Forces between particles (Lennard-Jones, all pairs), 16 of them a thread, as molecular dynamics has them.
// run: forces(in f32[6144], in f32[12], out f32[6144], i32=3, i32=2048) grid=(1) block=(128)
// time: forces(in f32[3244032], in f32[2048], out f32[3244032], i32=512, i32=1081344) grid=(528) block=(128)
extern "C" __global__ void __launch_bounds__(128)
forces(const float *__restrict__ a, const float *__restrict__ b, float *c, int others, int n) {
    int i = blockIdx.x * 2048 + threadIdx.x;
    float x[16], y[16], z[16], fx[16] = {}, fy[16] = {}, fz[16] = {};
#pragma unroll
    for (int j = 0; j < 16; j++) {
        x[j] = a[i + 128 * j];
        y[j] = a[n + i + 128 * j];
        z[j] = a[2 * n + i + 128 * j];
    }
#pragma unroll 1
    for (int k = 0; k < others; k++) {
        float ox = b[4 * k], oy = b[4 * k + 1], oz = b[4 * k + 2], weight = b[4 * k + 3];
#pragma unroll
        for (int j = 0; j < 16; j++) {
            float dx = x[j] - ox, dy = y[j] - oy, dz = z[j] - oz;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1.f);
            float squared = inverse * inverse, sixth = squared * squared * squared;
            float force = weight * squared * sixth * (48.f * sixth - 24.f);
            fx[j] += force * dx;
            fy[j] += force * dy;
            fz[j] += force * dz;
        }
    }
#pragma unroll
    for (int j = 0; j < 16; j++) {
        c[i + 128 * j] = fx[j];
        c[n + i + 128 * j] = fy[j];
        c[2 * n + i + 128 * j] = fz[j];
    }
}

// Discrete Fourier transforms of 64 points, one a thread: 128 values that are live at once, and no loop.
// run: fourier64(in f32[8192], out f32[8192], i32=64) grid=(1) block=(64)
// time: fourier64(in f32[207618048], out f32[207618048], i32=1622016) grid=(12672) block=(128)
extern "C" __global__ void __launch_bounds__(128)
fourier64(const float *__restrict__ a, float *b, int n) {
    // cos and -sin of k / 64 turns.
    const float roots[64] = {
        1.f, 0.f, 0.995184727f, -0.0980171403f, 0.98078528f, -0.195090322f, 0.956940336f, -0.290284677f,
        0.923879533f, -0.382683432f, 0.881921264f, -0.471396737f, 0.831469612f, -0.555570233f, 0.773010453f,
        -0.634393284f, 0.707106781f, -0.707106781f, 0.634393284f, -0.773010453f, 0.555570233f, -0.831469612f,
        0.471396737f, -0.881921264f, 0.382683432f, -0.923879533f, 0.290284677f, -0.956940336f, 0.195090322f,
        -0.98078528f, 0.0980171403f, -0.995184727f, 0.f, -1.f, -0.0980171403f, -0.995184727f, -0.195090322f,
        -0.98078528f, -0.290284677f, -0.956940336f, -0.382683432f, -0.923879533f, -0.471396737f, -0.881921264f,
        -0.555570233f, -0.831469612f, -0.634393284f, -0.773010453f, -0.707106781f, -0.707106781f,
        -0.773010453f, -0.634393284f, -0.831469612f, -0.555570233f, -0.881921264f, -0.471396737f,
        -0.923879533f, -0.382683432f, -0.956940336f, -0.290284677f, -0.98078528f, -0.195090322f, -0.995184727f,
        -0.0980171403f};
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float re[64], im[64];
#pragma unroll
    for (int k = 0; k < 64; k++) {
        re[k] = a[2 * k * n + i];
        im[k] = a[(2 * k + 1) * n + i];
    }
#pragma unroll
    for (int half = 32; half > 0; half /= 2)
#pragma unroll
        for (int k = 0; k < 32; k++) {
            int low = k / half * 2 * half + k % half, high = low + half, root = k % half * (32 / half);
            float x = re[low] - re[high], y = im[low] - im[high];
            re[low] += re[high];
            im[low] += im[high];
            re[high] = x * roots[2 * root] - y * roots[2 * root + 1];
            im[high] = x * roots[2 * root + 1] + y * roots[2 * root];
        }
    // In the order of reversed bits.
#pragma unroll
    for (int k = 0; k < 64; k++) {
        b[2 * k * n + i] = re[k];
        b[(2 * k + 1) * n + i] = im[k];
    }
}
