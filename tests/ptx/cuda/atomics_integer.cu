// Atomic operations on integers of 16, 32, 64 and 128 bits in global memory, with and without the old value.

// run: atomics_32(in i32[1000] -99..99, inout i32[7], inout u32[4], i32=1000) grid=(8) block=(128)
extern "C" __global__ void atomics_32(const int *a, int *s, unsigned *u, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicAdd(s + 0, a[i]);
    atomicSub(s + 1, a[i]);
    atomicMin(s + 2, a[i]);
    atomicMax(s + 3, a[i]);
    atomicAnd(s + 4, ~(1 << (a[i] & 31)));
    atomicOr(s + 5, 1 << (a[i] & 15));
    atomicXor(s + 6, a[i]);
    atomicMin(u + 0, (unsigned)a[i]);
    atomicMax(u + 1, (unsigned)a[i]);
    atomicInc(u + 2, 37);
    atomicDec(u + 3, 41);
}

// run: atomics_64(in i64[1000], inout u64[8], inout i64[2], i32=1000) grid=(8) block=(128)
extern "C" __global__ void atomics_64(const long long *a, unsigned long long *u, long long *s, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long x = a[i];
    atomicAdd(u + 0, x);
    atomicMin(u + 1, x);
    atomicMax(u + 2, x);
    atomicAnd(u + 3, x | x << 7);
    atomicOr(u + 4, x & x >> 9);
    atomicXor(u + 5, x);
    atomicMin(s + 0, a[i]);
    atomicMax(s + 1, a[i]);
}

// The old values of one place are a permutation: their sum and their marks are determined.
// run: tickets(out i32[1000], inout u32[1] 0..0, inout u64[1] 0..0, i32=1000) grid=(8) block=(128)
extern "C" __global__ void tickets(int *marks, unsigned *counter, unsigned long long *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned ticket = atomicAdd(counter, 1u);
    marks[ticket] = 7;
    atomicAdd(sum, (unsigned long long)ticket * ticket);
}

// A lock-free maximum by comparing and swapping, in 16, 32 and 64 bits.
// run: swaps(in i32[1000] 0..30000, inout i32[1] 0..0, inout u64[1] 0..0, inout u16[2] 0..0, i32=1000) grid=(8) block=(128)
extern "C" __global__ void swaps(const int *a, int *m, unsigned long long *w, unsigned short *h, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int seen = *m, old;
    do {
        old = seen;
        if (old >= a[i])
            break;
        seen = atomicCAS(m, old, a[i]);
    } while (seen != old);
    unsigned long long wide = *w, before;
    do {
        before = wide;
        wide = atomicCAS(w, before, before + (unsigned long long)a[i] * 0x100000001ull);
    } while (wide != before);
    unsigned short half = h[1], was;
    do {
        was = half;
        half = atomicCAS(h + 1, was, (unsigned short)(was + a[i]));
    } while (half != was);
}

// Every value is put in once and taken out once by the next: the sum without the last is made whole by block 0.
// run: exchanges(in u32[96], inout u32[1] 0..0, out u32[1], out u64[1]) grid=(1) block=(96)
extern "C" __global__ void exchanges(const unsigned *a, unsigned *slot, unsigned *sum, unsigned long long *last)
{
    __shared__ unsigned total;
    if (threadIdx.x == 0)
        total = 0, *last = 5;
    __syncthreads();
    atomicAdd(&total, atomicExch(slot, a[threadIdx.x]));
    __syncthreads();
    if (threadIdx.x == 0) {
        *sum = total + atomicExch(slot, 3u);
        unsigned long long before = atomicExch(last, 1ull << 40);
        *last += before;
    }
}
