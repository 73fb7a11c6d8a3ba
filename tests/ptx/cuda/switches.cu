// Switches: dense, sparse, with cases that fall through, of 48 cases, of 64 bits.

// run: dense(in u32[1000] 0..9, in i32[1000], out i32[1000], i32=1000) grid=(8) block=(128)
extern "C" __global__ void dense(const unsigned *a, const int *b, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = b[i];
    switch (a[i]) {
    case 0: x += 5; break;
    case 1: x ^= 0x55; break;
    case 2: x *= 3; // falls through
    case 3: x -= 7; break;
    case 4: x = ~x; break;
    case 5: x <<= 2; // falls through
    case 6: x |= 1; // falls through
    case 7: x >>= 1; break;
    default: x = -x;
    }
    c[i] = x;
}

// run: sparse(in i32[1000] -2..70000, out i32[1000], i32=1000) grid=(8) block=(128)
extern "C" __global__ void sparse(const int *a, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int r;
    switch (a[i] & ~0xff) {
    case 0: r = a[i] * 3; break;
    case 256: r = 4; break;
    case 5120: r = a[i] / 5; break;
    case 65536: r = -9; break;
    case 0x7fffff00: r = 77; break;
    case -256: r = 11; break;
    default: r = a[i] ^ 0x1234;
    }
    c[i] = r;
}

// run: wide_switch(in u64[333] 0..7, out u64[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void wide_switch(const unsigned long long *a, unsigned long long *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    switch (a[i] << 33) {
    case 0ull: c[i] = 1; return;
    case 1ull << 33: c[i] = 1ull << 40; return;
    case 5ull << 33: c[i] = ~0ull; return;
    default: c[i] = a[i] * a[i];
    }
}

// run: many_cases(in u32[1000] 0..50, in f32[1000], out f32[1000], i32=1000) grid=(8) block=(128)
extern "C" __global__ void many_cases(const unsigned *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = b[i];
    switch (a[i]) {
    case 0: x += 0.5f; break;
    case 1: x *= 1.25f; break;
    case 2: x = 2 - x; break;
    case 3: x = x * x + 3; break;
    case 4: x = fmaxf(x, 4.0f); break;
    case 5: x = x < 5 ? -x : x; break;
    case 6: x += 6.5f; break;
    case 7: x *= 7.25f; break;
    case 8: x = 8 - x; break;
    case 9: x = x * x + 9; break;
    case 10: x = fmaxf(x, 10.0f); break;
    case 11: x = x < 11 ? -x : x; break;
    case 12: x += 12.5f; break;
    case 13: x *= 13.25f; break;
    case 14: x = 14 - x; break;
    case 15: x = x * x + 15; break;
    case 16: x = fmaxf(x, 16.0f); break;
    case 17: x = x < 17 ? -x : x; break;
    case 18: x += 18.5f; break;
    case 19: x *= 19.25f; break;
    case 20: x = 20 - x; break;
    case 21: x = x * x + 21; break;
    case 22: x = fmaxf(x, 22.0f); break;
    case 23: x = x < 23 ? -x : x; break;
    case 24: x += 24.5f; break;
    case 25: x *= 25.25f; break;
    case 26: x = 26 - x; break;
    case 27: x = x * x + 27; break;
    case 28: x = fmaxf(x, 28.0f); break;
    case 29: x = x < 29 ? -x : x; break;
    case 30: x += 30.5f; break;
    case 31: x *= 31.25f; break;
    case 32: x = 32 - x; break;
    case 33: x = x * x + 33; break;
    case 34: x = fmaxf(x, 34.0f); break;
    case 35: x = x < 35 ? -x : x; break;
    case 36: x += 36.5f; break;
    case 37: x *= 37.25f; break;
    case 38: x = 38 - x; break;
    case 39: x = x * x + 39; break;
    case 40: x = fmaxf(x, 40.0f); break;
    case 41: x = x < 41 ? -x : x; break;
    case 42: x += 42.5f; break;
    case 43: x *= 43.25f; break;
    case 44: x = 44 - x; break;
    case 45: x = x * x + 45; break;
    case 46: x = fmaxf(x, 46.0f); break;
    case 47: x = x < 47 ? -x : x; break;
    default: x = 0.0f;
    }
    c[i] = x;
}

// A machine of states: a switch in a loop.
// run: states(in u8[1000] 0..3, out i32[100], i32=100) grid=(1) block=(128)
extern "C" __global__ void states(const unsigned char *text, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int state = 0, words = 0;
    for (int k = 0; k < 10; k++) {
        int letter = text[10 * i + k];
        switch (state) {
        case 0: state = letter == 0 ? 0 : 1; break;
        case 1: state = letter == 0 ? 2 : letter == 3 ? 3 : 1; break;
        case 2: words++; state = letter & 1; break;
        case 3:
            if (letter == 3)
                goto done;
            state = 0;
        }
    }
done:
    c[i] = words * 10 + state;
}
