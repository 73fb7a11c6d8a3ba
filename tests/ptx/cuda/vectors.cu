// Vector types: whole accesses of 16 to 128 bits, parts of them, vectors of bytes.

// run: vectors_of_floats(in f32[1000], in f64[500], out f32[1000], out f64[500], i32=250) grid=(2) block=(128)
extern "C" __global__ void vectors_of_floats(const float4 *a, const double2 *b, float4 *c, double2 *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 v = a[i];
    double2 w = b[i];
    c[i] = make_float4(v.w * 2, v.x + v.y, v.z - v.x, (float)w.x);
    d[i] = make_double2(w.y + v.x, w.x * w.y);
}

// run: vectors_of_integers(in u8[1332], in i16[666], in u16[1332], in i64[666], out i32[1332], i32=333) grid=(3) block=(128)
extern "C" __global__ void vectors_of_integers(const uchar4 *a, const short2 *b, const ushort4 *d, const longlong2 *e, int4 *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uchar4 u = a[i];
    short2 s = b[i];
    ushort4 h = d[i];
    longlong2 l = e[i];
    c[i] = make_int4(u.x + s.x, u.y - s.y + h.x, u.z * h.w + (int)l.x, u.w ^ (int)(l.y >> 32) ^ h.y ^ h.z);
}

// run: vectors_of_bytes(in i8[1332], inout i8[1332], out i8[999], i32=333) grid=(3) block=(128)
extern "C" __global__ void vectors_of_bytes(const char4 *a, char4 *b, char3 *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    char4 x = a[i], y = b[i];
    b[i] = make_char4(x.w, (signed char)(x.z + y.z), y.y, (signed char)-y.x);
    c[i] = make_char3(x.x, y.x, (signed char)(x.y * y.y));
}

// Vectors of three elements have the alignment of one.
// run: vectors_of_three(in f32[999], in i32[999], out f32[999], i32=333) grid=(3) block=(128)
extern "C" __global__ void vectors_of_three(const float3 *a, const int3 *b, float3 *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = make_float3(a[i].z + b[i].x, a[i].x * b[i].y, a[i].y - b[i].z);
}
