// Lambdas: by value, by reference, generic, mutable, returned, with a table of their own.

template <class F> __device__ __noinline__ int applied(F f, int x) { return f(x); }
__device__ auto adder(int by) { return [by](int x) { return x + by; }; }

// run: lambdas(in i32[333], out i32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void lambdas(const int *a, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int sum = 0, x = a[i];
    auto collect = [&sum](int v) { return sum += v; };
    auto count = [k = 0]() mutable { return ++k; };
    auto any = [](auto p, auto q) { return p < q ? (int)p : (int)q; };
    auto factorial = [](auto self, int k) -> int { return k < 2 ? 1 : k * self(self, k - 1); };
    applied(collect, x);
    applied(collect, i);
    count();
    c[i] = sum + applied(adder(7), x) + count() * 1000 + any(x, 3.5f) + factorial(factorial, i % 6);
}
