// Calls that stay calls: parameters and results of every kind.

struct Pair { float first; int second; };
struct Large { double weights[3]; short tag; char letters[5]; };
struct Empty {};

__device__ __noinline__ int narrow(signed char a, unsigned char b, short c, unsigned short d, bool e)
{
    return a + 2 * b + 3 * c + 5 * d + (e ? 7 : 11);
}
__device__ __noinline__ signed char narrow_result(int x) { return (signed char)(x * 3); }
__device__ __noinline__ unsigned short short_result(int x) { return (unsigned short)(x - 5); }
__device__ __noinline__ bool is_odd(int x) { return x & 1; }
__device__ __noinline__ double wide(double a, long long b, unsigned long long c, float d)
{
    return a * b + (double)(c >> 3) - d;
}
__device__ __noinline__ Pair swapped(Pair p) { return {(float)p.second, (int)p.first}; }
__device__ __noinline__ Large filled(Large l, int i, Empty)
{
    l.weights[i % 3] += i;
    l.tag = (short)(l.tag + i);
    l.letters[i % 5] = (char)i;
    return l;
}
__device__ __noinline__ void store_through(int *where, const float4 *what, int scale)
{
    *where += (int)(what->x + what->w * scale);
}
__device__ __noinline__ float4 vector_result(float a, float4 b) { return {a * b.x, b.y, a + b.z, b.w}; }
__device__ __noinline__ void nothing() { asm volatile("" ::: "memory"); }
__device__ __noinline__ int ten(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j)
{
    return a - b + 2 * c - 3 * d + 5 * e - 7 * f + 11 * g - 13 * h + 17 * i - 19 * j;
}

// run: calls_narrow(in i32[333], out i32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void calls_narrow(const int *a, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = a[i];
    nothing();
    c[i] = narrow(x, x >> 8, x >> 16, x >> 3, is_odd(x)) + narrow_result(x) * short_result(x >> 5);
    if (is_odd(i))
        c[i] = ten(x, i, x + i, x - i, 1, 2, 3, i, x, c[i]);
}

// run: calls_wide(in f64[333], in i64[333] -1000000..1000000, out f64[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void calls_wide(const double *a, const long long *b, double *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = wide(a[i], b[i], (unsigned long long)i << 33, 0.5f * i);
}

// run: calls_structs(in f32[1332], in i32[333] -9999..9999, out f64[333], out i32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void calls_structs(const float4 *a, const int *b, double *c, int *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Pair p = swapped({a[i].x * 16, b[i]});
    Large l = filled({{1.5, p.first, a[i].y}, (short)p.second, {'a', 'b', 'c', 'd', 'e'}}, i, Empty());
    float4 v = vector_result(p.first, a[i]);
    int sum = l.letters[0] + l.letters[4] + l.tag;
    store_through(&sum, &v, 3);
    c[i] = l.weights[0] + l.weights[1] * l.weights[2];
    d[i] = sum;
}

// A parameter that is an address of the caller's local array.
__device__ __noinline__ void sort_four(int *v)
{
    for (int i = 1; i < 4; i++)
        for (int j = i; j > 0 && v[j - 1] > v[j]; j--) {
            int t = v[j];
            v[j] = v[j - 1];
            v[j - 1] = t;
        }
}

// run: calls_with_local_addresses(in i32[1000], out i32[1000], i32=250) grid=(1) block=(250)
extern "C" __global__ void calls_with_local_addresses(const int *a, int *c, int n)
{
    int i = threadIdx.x;
    if (i >= n)
        return;
    int v[4] = {a[4 * i], a[4 * i + 1], a[4 * i + 2], a[4 * i + 3]};
    sort_four(v);
    for (int k = 0; k < 4; k++)
        c[4 * i + k] = v[k];
}
