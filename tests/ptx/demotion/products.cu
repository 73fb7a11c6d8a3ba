// archs: sm_90 sm_100
// Tiles of products in registers: 16 by 16 sums of floats, 8 by 8 of doubles, and integers in pairs of 16 bits.
// run: product(in f32[4096], in f32[4096], out f32[8192], i32=3) grid=(1) block=(32)
// run: product_double(in f64[2048], in f64[2048], out f64[4096], i32=3) grid=(1) block=(8,4,2)
// run: shorts(in i16[4096], inout i32[512], i32=3) grid=(2) block=(48)

extern "C" __global__ void __launch_bounds__(64)
product(const float *__restrict__ a, const float *__restrict__ b, float *c, int steps) {
    float s[16][16] = {};
    int i = threadIdx.x;
    for (int k = 0; k < steps; k++) {
        float x[16], y[16];
#pragma unroll
        for (int j = 0; j < 16; j++) {
            x[j] = a[k * 1024 + i * 16 + j];
            y[j] = b[k * 1024 + i * 16 + j];
        }
#pragma unroll
        for (int p = 0; p < 16; p++)
#pragma unroll
            for (int q = 0; q < 16; q++) s[p][q] += x[p] * y[q];
    }
#pragma unroll
    for (int p = 0; p < 16; p++)
#pragma unroll
        for (int q = 0; q < 16; q++) c[(p * 16 + q) * 32 + i] = s[p][q];
}

extern "C" __global__ void __launch_bounds__(64)
product_double(const double *__restrict__ a, const double *__restrict__ b, double *c, int steps) {
    double s[8][8] = {};
    int i = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    for (int k = 0; k < steps; k++) {
        double x[8], y[8];
#pragma unroll
        for (int j = 0; j < 8; j++) {
            x[j] = a[k * 512 + i * 8 + j];
            y[j] = b[k * 512 + i * 8 + j];
        }
#pragma unroll
        for (int p = 0; p < 8; p++)
#pragma unroll
            for (int q = 0; q < 8; q++) s[p][q] += x[p] * y[q];
    }
#pragma unroll
    for (int p = 0; p < 8; p++)
#pragma unroll
        for (int q = 0; q < 8; q++) c[(p * 8 + q) * 64 + i] = s[p][q];
}

// Values of 16 bits that live long, and definitions under conditions.
extern "C" __global__ void __launch_bounds__(64) shorts(const short *__restrict__ a, int *c, int steps) {
    short s[48];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int j = 0; j < 48; j++) s[j] = a[i * 32 + j];
    for (int k = 0; k < steps; k++) {
#pragma unroll
        for (int j = 0; j < 48; j++) s[j] = s[j] * s[(j + 5) % 48] > 100 ? s[(j + 1) % 48] : s[j] + c[i];
    }
    int r = 0;
#pragma unroll
    for (int j = 0; j < 48; j++) r += s[j] * (j + 1);
    c[gridDim.x * blockDim.x + i] = r;
}
