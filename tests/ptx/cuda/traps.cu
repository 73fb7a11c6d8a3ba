// Ends that are not returns: assertions, traps, breakpoints, exits, promises to the compiler. The traps are not met.
#include <cassert>

// run: asserted(in u32[333] 0..100, out u32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void asserted(const unsigned *a, unsigned *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    assert(a[i] <= 100 && "drawn from 0..100");
    if (a[i] > 200)
        __trap();
    if (a[i] > 300)
        __brkpt();
    __builtin_assume(a[i] < 1000);
    c[i] = a[i] / 3;
    if (a[i] == 50)
        asm volatile("exit;");
    c[i] += 1;
}

__device__ __noinline__ int unreachable_default(int x)
{
    switch (x) {
    case 0: return 5;
    case 1: return 9;
    case 2: return -3;
    default: __builtin_unreachable();
    }
}

// run: unreachable(in i32[333] 0..2, out i32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void unreachable(const int *a, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    c[i] = unreachable_default(a[i]);
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %0, 5; @p trap; @p exit; pmevent 3; }" ::"r"(a[i]));
}

[[noreturn]] __device__ __noinline__ void fail(int code)
{
    asm volatile("{ .reg .u32 t; mov.u32 t, %0; }" ::"r"(code));
    __trap();
    while (true)
        ;
}

// run: may_fail(in i32[333] 0..9, out i32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void may_fail(const int *a, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (a[i] < 0)
        fail(a[i]);
    c[i] = a[i] * 11;
}
