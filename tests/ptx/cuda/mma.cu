// archs: sm_90 sm_100 sm_120
// mma.sync in several types and shapes, with ldmatrix and stmatrix. Whole numbers: the sums are exact.

// run: mma_half(in f16[256] whole -4..4, in f16[128] whole -4..4, inout f32[128] whole -9..9) grid=(1) block=(32)
extern "C" __global__ void mma_half(const uint4 *a, const uint2 *b, float4 *c)
{
    uint4 x = a[threadIdx.x];
    uint2 y = b[threadIdx.x];
    float4 d = c[threadIdx.x];
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d.x), "+f"(d.y), "+f"(d.z), "+f"(d.w) : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y));
    c[threadIdx.x] = d;
}

// run: mma_tf32(in f32[128] whole -8..8, in f32[64] whole -8..8, out f32[128]) grid=(1) block=(32)
extern "C" __global__ void mma_tf32(const float *a, const float *b, float *c)
{
    int g = threadIdx.x >> 2, t = threadIdx.x & 3;
    unsigned x[4], y[2];
    for (int i = 0; i < 4; i++)
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(x[i]) : "f"(a[(g + i % 2 * 8) * 8 + t + i / 2 * 4]));
    for (int i = 0; i < 2; i++)
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y[i]) : "f"(b[(t + i * 4) * 8 + g]));
    float d[4] = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    for (int i = 0; i < 4; i++)
        c[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = d[i];
}

// run: mma_bytes(in u32[64], in u32[32], out i32[64]) grid=(1) block=(32)
extern "C" __global__ void mma_bytes(const unsigned *a, const unsigned *b, int *c)
{
    int d0 = 3, d1 = -3, e0 = 0, e1 = 1;
    asm volatile("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+r"(d0), "+r"(d1) : "r"(a[threadIdx.x]), "r"(b[threadIdx.x]));
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+r"(e0), "+r"(e1) : "r"(a[32 + threadIdx.x]), "r"(b[threadIdx.x]));
    ((int2 *)c)[threadIdx.x] = make_int2(d0 ^ e0, d1 ^ e1);
}

// run: mma_double(in f64[32] whole -8..8, in f64[32] whole -8..8, inout f64[64] whole -9..9) grid=(1) block=(32)
extern "C" __global__ void mma_double(const double *a, const double *b, double2 *c)
{
    double2 d = c[threadIdx.x];
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(d.x), "+d"(d.y) : "d"(a[threadIdx.x]), "d"(b[threadIdx.x]));
    c[threadIdx.x] = d;
}

// run: matrices_of_shared_memory(in u16[256], out u32[128], out u16[256]) grid=(1) block=(32)
extern "C" __global__ void matrices_of_shared_memory(const uint4 *a, uint4 *c, uint4 *e)
{
    __shared__ alignas(16) uint4 rows[32];
    rows[threadIdx.x] = a[threadIdx.x];
    __syncwarp();
    unsigned s = (unsigned)__cvta_generic_to_shared(rows + threadIdx.x), x, y, z, w, t, u;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(s) : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(t), "=r"(u) : "r"(s) : "memory");
    c[threadIdx.x] = make_uint4(x ^ t, y + u, z, w);
    __syncwarp();
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
                 ::"r"(s), "r"(w), "r"(z), "r"(y), "r"(x) : "memory");
    __syncwarp();
    e[threadIdx.x] = rows[threadIdx.x];
}

// run: transposed_matrix(in u32[32], out u32[32]) grid=(1) block=(32)
extern "C" __global__ void transposed_matrix(const unsigned *a, unsigned *c)
{
    unsigned x;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(x) : "r"(a[threadIdx.x]));
    c[threadIdx.x] = x;
}

// Half of the first matrix is known to be zero, as its metadata say.
// run: mma_sparse(in f16[256] whole -4..4, out f32[128]) grid=(1) block=(32)
extern "C" __global__ void mma_sparse(const unsigned *a, float *c)
{
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
    unsigned x = a[threadIdx.x], y = a[32 + threadIdx.x], z = a[64 + threadIdx.x], w = a[96 + threadIdx.x];
    asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%0, %1, %2, %3}, %8, 0x0;"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(x), "r"(y), "r"(z), "r"(w), "r"(0x44444444u));
    ((float4 *)c)[threadIdx.x] = make_float4(d0, d1, d2, d3);
}
