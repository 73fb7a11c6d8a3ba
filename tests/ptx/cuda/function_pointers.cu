// Indirect calls: a table of functions, a pointer that is a parameter, a pointer chosen at run time.

typedef int (*Binary)(int, int);
typedef float (*Unary)(float);
typedef void (*Storing)(long long *, short, double);

__device__ int add(int a, int b) { return a + b; }
__device__ int subtract(int a, int b) { return a - b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ int exclusive_or(int a, int b) { return a ^ b; }
__device__ float halve(float x) { return x * 0.5f; }
__device__ float negate(float x) { return -x; }
__device__ void store_product(long long *p, short s, double d) { *p = s * (long long)d; }
__device__ void store_sum(long long *p, short s, double d) { *p = s + (long long)d; }

__device__ Binary operations[5] = {add, subtract, multiply, nullptr, exclusive_or};
__constant__ Unary unary[2] = {halve, negate};
__device__ Storing chosen = store_product;

__device__ __noinline__ int apply(Binary f, int a, int b) { return f(a, b); }

// run: indirect(in i32[1000], in i32[1000], out i32[1000], i32=1000) grid=(8) block=(128)
extern "C" __global__ void indirect(const int *a, const int *b, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Binary f = operations[i % 5];
    c[i] = f ? apply(f, a[i], b[i]) : -1;
}

// run: indirect_of_constants(in f32[333], out f32[333], out i64[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void indirect_of_constants(const float *a, float *c, long long *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    c[i] = unary[i & 1](a[i]);
    Storing f = a[i] < 0 ? chosen : store_sum;
    f(d + i, (short)i, 100.0 * a[i]);
}
