// Control flow in which the threads of a warp part: early exits, nested conditions, conditions of many terms.

// run: early_exit(in i32[1000], inout i32[1000], i32=1000) grid=(8) block=(128)
extern "C" __global__ void early_exit(const int *a, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || a[i] % 3 == 0)
        return;
    c[i] += 1;
    if (a[i] < 0) {
        c[i] *= 2;
        if (c[i] & 4)
            return;
        c[i] -= 9;
    }
    c[i] ^= a[i];
}

// run: conditions(in f32[1000], in f32[1000], out i32[1000], i32=1000) grid=(8) block=(128)
extern "C" __global__ void conditions(const float *a, const float *b, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i], y = b[i];
    int r = 0;
    if (x > 0 && y > 0 && x + y < 3)
        r = 1;
    else if (x < -1 || y < -1 || x * y > 1)
        r = 2;
    else if (!(x < y) != (i % 2 == 0))
        r = 3;
    c[i] = r;
}

// A loop whose number of turns differs from thread to thread, and a barrier after it.
// run: uneven(in i32[256] 1..40, out i32[256]) grid=(2) block=(128)
extern "C" __global__ void uneven(const int *a, int *c)
{
    __shared__ int buffer[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    for (int k = 0; k < a[i]; k++)
        if ((k + threadIdx.x) % 3)
            s += k;
        else
            s ^= k;
    buffer[threadIdx.x] = s;
    __syncthreads();
    c[i] = buffer[127 - threadIdx.x];
}

// Half a warp leaves before the barrier of those that stay.
// run: leaving(out i32[64]) grid=(1) block=(64)
extern "C" __global__ void leaving(int *c)
{
    int i = threadIdx.x;
    c[i] = -1;
    if (i & 1)
        return;
    unsigned mask = __activemask();
    __syncwarp(0x55555555u);
    c[i] = __popc(__ballot_sync(0x55555555u, i % 4 == 0)) + (mask != 0);
}

// run: selections(in i32[333], in i32[333], out i32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void selections(const int *a, const int *b, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int low = min(a[i], b[i]), high = max(a[i], b[i]);
    bool swapped = a[i] > b[i], far = (long long)high - low > 1000;
    bool both = swapped && far, one = swapped ^ far;
    c[i] = both ? low : one ? high : (swapped == far ? abs(low) : 0);
}
