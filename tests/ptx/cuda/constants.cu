// Constant memory: tables with initial values, dynamic indices, structs, 64 KB minus little.

struct Weights { float scale; int shift; double offset; };

__constant__ int primes[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
__constant__ float matrix[3][5] = {{1, 2, 3, 4, 5}, {0.5f, 0.25f}, {-1, -2, -3, -4, -5}};
__constant__ unsigned char bytes[256] = {7, 6, 5, 255};
__constant__ Weights weights[2] = {{1.5f, 3, 1e100}, {-2.5f, -4, 1e-3}};
__constant__ const char *const names[3] = {"zero", "one", "two and more"};
__constant__ double single = 0.1;

// run: constant_tables(in u32[1000], out f32[1000], out i32[1000], i32=1000) grid=(8) block=(128)
extern "C" __global__ void constant_tables(const unsigned *a, float *c, int *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i];
    c[i] = matrix[x % 3][x % 5] * weights[x & 1].scale + (float)single + matrix[2][4];
    d[i] = primes[x & 15] + primes[5] + bytes[x & 255] * weights[i & 1].shift;
}

// run: constant_strings(out u8[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void constant_strings(char *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const char *s = names[i % 3];
    int length = 0;
    while (s[length])
        length++;
    c[i] = s[i % length];
}
