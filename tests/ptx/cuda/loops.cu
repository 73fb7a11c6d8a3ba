// Loops: unrolled or not, nested, with break, continue and goto, counted up and down.

// run: unrolled(in f32[1600], out f32[100], i32=100) grid=(1) block=(128)
extern "C" __global__ void unrolled(const float *a, float *c, int n)
{
    int i = threadIdx.x;
    if (i >= n)
        return;
    float s = 0;
#pragma unroll
    for (int k = 0; k < 16; k++)
        s += a[16 * i + k] * (k + 1);
    c[i] = s;
}

// run: rolled(in f32[1600], out f32[100], i32=100, i32=16) grid=(1) block=(128)
extern "C" __global__ void rolled(const float *a, float *c, int n, int m)
{
    int i = threadIdx.x;
    if (i >= n)
        return;
    float s = 0;
#pragma unroll 1
    for (int k = m - 1; k >= 0; k--)
        s = s * 0.5f + a[m * i + k];
    c[i] = s;
}

// run: unrolled_by_four(in i32[2300], out i32[100], i32=100, i32=23) grid=(1) block=(128)
extern "C" __global__ void unrolled_by_four(const int *a, int *c, int n, int m)
{
    int i = threadIdx.x;
    if (i >= n)
        return;
    int s = 0;
#pragma unroll 4
    for (int k = 0; k < m; k++)
        s = s * 31 + a[m * i + k];
    c[i] = s;
}

// run: nested(in i32[333] 0..9, out i32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void nested(const int *a, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int s = 0;
    for (int x = 0; x < a[i]; x++) {
        if (x == 6)
            continue;
        for (int y = x; y < 12; y += 2) {
            if ((x * y + i) % 11 == 3)
                break;
            for (int z = y; z > x; z /= 2)
                s += z ^ y;
        }
        if (s > 500)
            break;
    }
    c[i] = s;
}

// run: collatz(in u32[333] 1..400, out i32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void collatz(const unsigned *a, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i];
    int steps = 0;
    while (x != 1) {
        x = x & 1 ? 3 * x + 1 : x / 2;
        steps++;
    }
    c[i] = steps;
}

// run: jumps(in i32[333] -50..50, out i32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void jumps(const int *a, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = a[i], s = 0;
    // Two entries into one cycle.
    if (x & 1)
        goto odd;
even:
    s += 3;
    x -= 2;
    if (x < -60)
        goto end;
odd:
    s = s * 2 + 1;
    x -= 7;
    if (x > -60 && s < 100000)
        goto even;
end:
    c[i] = s + x;
}

// run: do_while(in u64[333], out u32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void do_while(const unsigned long long *a, unsigned *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long x = a[i];
    unsigned digits = 0;
    do {
        digits = digits * 7 + (unsigned)(x % 10);
        x /= 10;
    } while (x);
    c[i] = digits;
}
