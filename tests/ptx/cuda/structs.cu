// Structs by value in parameters, arrays of structs, bit fields, unions, copies, arguments of kernels of several kinds.

struct Point { float x, y, z; };
struct Options { double scale; int shift; unsigned char mode; short bias[2]; };
struct Bits { unsigned low : 5, middle : 11, high : 16; int sign : 3; };
union Word { unsigned u; float f; unsigned short h[2]; };

__device__ Point corners[8] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};

// run: struct_argument(struct(f64=1.5, i32=3, u8=2, i16=-7, i16=9), in f32[999], out f32[999], i32=333) grid=(3) block=(128)
extern "C" __global__ void struct_argument(Options o, const Point *a, Point *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Point p = a[i], q = corners[i & 7];
    p.x = (float)(p.x * o.scale) + q.z;
    p.y += o.bias[i & 1] + q.x;
    p.z = o.mode == 2 ? p.z * (1 << o.shift) : q.y;
    c[i] = p;
}

// run: small_arguments(u8=200, i8=-5, u16=65535, i16=-300, f32=0.25, i64=-10000000000, u8=1, f64=1e300, out f64[64]) grid=(1) block=(64)
extern "C" __global__ void small_arguments(unsigned char a, signed char b, unsigned short c, short d, float e, long long f, bool g,
                                           double h, double *r)
{
    r[threadIdx.x] = g ? a + b * 2 + c * 3 + d * 5 + e + f * (int)threadIdx.x : h;
}

// run: bit_fields(in u32[333], out u32[333], out i32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void bit_fields(const unsigned *a, unsigned *c, int *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Bits b;
    b.low = a[i], b.middle = a[i] >> 7, b.high = a[i] >> 13, b.sign = (int)(a[i] >> 20);
    b.low += b.middle;
    Word w;
    w.u = a[i] & 0x3fffffff;
    w.h[1] ^= 0x0101;
    c[i] = b.low | b.middle << 5 | b.high << 16;
    d[i] = b.sign + (w.f > 1.0f) + w.h[0];
}

struct __attribute__((packed)) Packed { unsigned char tag; unsigned value; unsigned short tail; };

// Fields that are not aligned are read byte by byte.
// run: packed_structs(in u8[700], out u64[100], out u8[700], i32=100) grid=(1) block=(128)
extern "C" __global__ void packed_structs(const Packed *a, unsigned long long *c, Packed *d, int n)
{
    int i = threadIdx.x;
    if (i >= n)
        return;
    Packed p = a[i];
    c[i] = p.tag + 256ull * p.value + ((unsigned long long)p.tail << 40);
    p.value ^= 0xdeadbeef;
    d[i] = p;
}

struct Big { int words[2]; long long wide; double real; int rest[994]; };

// run: big_argument(struct(i32=5, u64=99, f64=-1.5, bytes=3976), out i32[64]) grid=(1) block=(64)
extern "C" __global__ void big_argument(const __grid_constant__ Big big, int *c)
{
    c[threadIdx.x] = big.words[0] + (int)big.wide + (int)big.real + big.rest[threadIdx.x * 13];
}
