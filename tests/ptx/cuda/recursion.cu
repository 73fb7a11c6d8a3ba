// Functions that call themselves and each other: frames on the local stack.

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

__device__ bool is_even(unsigned n);
__device__ __noinline__ bool is_odd(unsigned n) { return n != 0 && is_even(n - 1); }
__device__ __noinline__ bool is_even(unsigned n) { return n == 0 || is_odd(n - 1); }

// run: recursive(in u32[333] 0..12, out u32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void recursive(const unsigned *a, unsigned *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = fibonacci(a[i]) + 1000 * ackermann(a[i] & 1, a[i] & 3) + 100000 * is_even(a[i]);
}

// Hanoi's tower with a local array in each frame.
__device__ __noinline__ int hanoi(int n, int from, int to, int *log)
{
    if (n == 0)
        return 0;
    int marks[3] = {0, 0, 0};
    marks[from]++;
    int moves = hanoi(n - 1, from, 3 - from - to, log);
    *log = *log * 3 + to + marks[from];
    return moves + 1 + hanoi(n - 1, 3 - from - to, to, log);
}

// run: towers(out i32[64], out i32[64]) grid=(2) block=(32)
extern "C" __global__ void towers(int *moves, int *logs)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int log = 0;
    moves[i] = hanoi(i % 6, 0, 2, &log);
    logs[i] = log;
}
