// archs: sm_90 sm_100
// A division that is a function, as those of the paper's benchmarks: many short calls between many values.
// run: quotients(in u64[1024] 1..1000000, out u64[128], i32=128) grid=(2) block=(64)

// Long division, one bit after the other.
__device__ __noinline__ unsigned long long divided(unsigned long long a, unsigned long long b) {
    unsigned long long quotient = 0, rest = 0;
#pragma unroll 1
    for (int bit = 20; bit >= 0; bit--) {
        rest = rest << 1 | (a >> bit & 1);
        if (rest >= b) { rest -= b; quotient |= 1ull << bit; }
    }
    return quotient;
}

extern "C" __global__ void __launch_bounds__(64) quotients(const unsigned long long *a, unsigned long long *out, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    unsigned long long v[12], w[12], s = 0;
#pragma unroll
    for (int k = 0; k < 12; k++) v[k] = a[i + k];
#pragma unroll
    for (int k = 0; k < 12; k++) w[k] = divided(v[k], a[i + 64 + k]) + 1;
#pragma unroll
    for (int k = 0; k < 12; k++) s += divided(a[i + 128 + k], w[k]) * v[11 - k];
#pragma unroll
    for (int k = 0; k < 12; k++) s ^= w[k] * v[k];
    out[i] = s;
}
