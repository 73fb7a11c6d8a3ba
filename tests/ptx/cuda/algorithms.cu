// Short algorithms of many kinds: sorting, searching, hashing, random numbers, sparse products.

// run: bitonic_sort(inout i32[256]) grid=(1) block=(256)
extern "C" __global__ void bitonic_sort(int *c)
{
    __shared__ int s[256];
    int i = threadIdx.x;
    s[i] = c[i];
    __syncthreads();
    for (int size = 2; size <= 256; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            int j = i ^ stride;
            if (j > i && ((i & size) == 0) == (s[i] > s[j])) {
                int t = s[i];
                s[i] = s[j];
                s[j] = t;
            }
            __syncthreads();
        }
    c[i] = s[i];
}

// run: binary_search(in i32[333], out i32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void binary_search(const int *a, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    // The squares of 0, 1, ... are sorted.
    int low = 0, high = 46340, key = a[i] & 0x7fffffff;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (middle * middle <= key)
            low = middle;
        else
            high = middle - 1;
    }
    c[i] = low;
}

// run: checksums(in u8[1000], out u32[100], out u64[100], i32=100) grid=(1) block=(128)
extern "C" __global__ void checksums(const unsigned char *a, unsigned *c, unsigned long long *d, int n)
{
    int i = threadIdx.x;
    if (i >= n)
        return;
    unsigned crc = ~0u;
    unsigned long long hash = 14695981039346656037ull;
    for (int k = 0; k < 10; k++) {
        crc ^= a[10 * i + k];
        for (int b = 0; b < 8; b++)
            crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
        hash = (hash ^ a[10 * i + k]) * 1099511628211ull;
    }
    c[i] = ~crc;
    d[i] = hash;
}

// run: random_numbers(in u64[333], out f32[333], out u64[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void random_numbers(const unsigned long long *seeds, float *c, unsigned long long *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long x = seeds[i] | 1;
    unsigned hits = 0;
    for (int k = 0; k < 32; k++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        float u = (float)(unsigned)(x >> 40) * 0x1p-24f, v = (float)(unsigned)(x & 0xffffff) * 0x1p-24f;
        hits += u * u + v * v < 1;
    }
    c[i] = hits * 0.125f;
    d[i] = x;
}

// Rows of different lengths: the borders are squares modulo the number of entries.
// run: sparse_product(in f32[1000], in u32[1000], in f32[333], out f32[333], i32=333, i32=1000) grid=(3) block=(128)
extern "C" __global__ void sparse_product(const float *values, const unsigned *columns, const float *x, float *c, int n, int entries)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n)
        return;
    int begin = row * row % entries, end = begin + row % 7;
    float s = 0;
    for (int k = begin; k < min(end, entries); k++)
        s += values[k] * x[columns[k] % n];
    c[row] = s;
}

// run: gravity(in f32[400], out f32[300], i32=100) grid=(2) block=(64) approx=1e-4
extern "C" __global__ void gravity(const float4 *bodies, float *c, int n)
{
    __shared__ float4 tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 me = bodies[min(i, n - 1)];
    float fx = 0, fy = 0, fz = 0;
    for (int t = 0; t < n; t += 64) {
        if (t + (int)threadIdx.x < n)
            tile[threadIdx.x] = bodies[t + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < min(64, n - t); k++) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.5f);
            float f = fabsf(tile[k].w) * inverse * inverse * inverse;
            fx += f * dx, fy += f * dy, fz += f * dz;
        }
        __syncthreads();
    }
    if (i < n)
        c[3 * i] = fx, c[3 * i + 1] = fy, c[3 * i + 2] = fz;
}

// The rounds of SHA-256 over one block of 64 bytes a thread.
__constant__ unsigned round_constants[8] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
                                            0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5};
__device__ __forceinline__ unsigned rotated(unsigned x, int by) { return __funnelshift_r(x, x, by); }

// run: digest(in u32[512], out u32[256]) grid=(1) block=(32)
extern "C" __global__ void digest(const unsigned *a, unsigned *c)
{
    unsigned w[16], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int k = 0; k < 16; k++)
        w[k] = a[16 * threadIdx.x + k];
#pragma unroll 1
    for (int r = 0; r < 64; r++) {
        unsigned s1 = rotated(h[4], 6) ^ rotated(h[4], 11) ^ rotated(h[4], 25), choice = (h[4] & h[5]) ^ (~h[4] & h[6]);
        unsigned t1 = h[7] + s1 + choice + round_constants[r & 7] + w[r & 15];
        unsigned s0 = rotated(h[0], 2) ^ rotated(h[0], 13) ^ rotated(h[0], 22);
        unsigned most = (h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]);
        for (int k = 7; k > 0; k--)
            h[k] = h[k - 1];
        h[4] += t1;
        h[0] = t1 + s0 + most;
        w[r & 15] += w[(r + 9) & 15] + (rotated(w[(r + 1) & 15], 7) ^ w[(r + 1) & 15] >> 3);
    }
    for (int k = 0; k < 8; k++)
        c[8 * threadIdx.x + k] = h[k];
}
