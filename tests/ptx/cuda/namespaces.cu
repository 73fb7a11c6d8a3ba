// Names in namespaces, nested and anonymous, inline ones, statics, and overloads.

namespace outer {
namespace inner {
__device__ int counter = 5;
__device__ __noinline__ int f(int x) { return x + counter; }
__device__ __noinline__ double f(double x) { return x * 2; }
} // namespace inner
inline namespace v2 {
__device__ __noinline__ int f(int x, int y) { return x * y; }
} // namespace v2
enum class Colour : unsigned char { red = 1, green = 5 };
__device__ __noinline__ int f(Colour c) { return static_cast<int>(c) * 100; }
} // namespace outer

namespace {
__device__ int hidden[4] = {9, 8, 7, 6};
__device__ __noinline__ int g(const int (&table)[4], int i) { return table[i & 3]; }
struct Local { int x; __device__ __noinline__ int get() const { return x - 1; } };
} // namespace

static __device__ __noinline__ int g(int x) { return x ^ 0x3c; }

// run: named(in i32[333], out i32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void named(const int *a, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int r = outer::inner::f(a[i]) + (int)outer::inner::f(0.5 * i) + outer::f(a[i], i);
    r += outer::f(a[i] & 1 ? outer::Colour::red : outer::Colour::green) + g(hidden, i) + g(a[i]) + Local{a[i]}.get();
    c[i] = r;
}

namespace outer {
__global__ void in_namespace(int *c) { c[0] = inner::counter; }
} // namespace outer
namespace {
__global__ void in_anonymous(int *c) { c[1] = hidden[2]; }
} // namespace
void *kept[2] = {(void *)outer::in_namespace, (void *)in_anonymous};
