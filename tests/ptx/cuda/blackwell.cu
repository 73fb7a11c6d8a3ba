// archs: sm_100 sm_103
// What begins with sm_100: pairs of floats in 64 bits, accesses of 256 bits, three sources, work asked for by clusters.

// run: float_pairs(in f32[1024], in f32[1024], out f32[1024]) grid=(4) block=(128)
extern "C" __global__ void float_pairs(const float2 *a, const float2 *b, float2 *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 s = __ffma2_rn(a[i], b[i], a[i]);
    c[i] = __fadd2_rn(s, __fmul2_rn(b[i], s));
}

// run: wide_accesses(in f32[512], out f32[512]) grid=(1) block=(64)
extern "C" __global__ void wide_accesses(const float *a, float *c)
{
    float x[8];
    unsigned long long p, q, r, s;
    asm volatile("ld.global.v8.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                 : "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3]), "=f"(x[4]), "=f"(x[5]), "=f"(x[6]), "=f"(x[7])
                 : "l"(a + 8 * threadIdx.x));
    asm volatile("ld.global.nc.v4.b64 {%0, %1, %2, %3}, [%4];" : "=l"(p), "=l"(q), "=l"(r), "=l"(s) : "l"(a + 8 * threadIdx.x));
    asm volatile("st.global.v8.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};"
                 ::"l"(c + 8 * threadIdx.x), "f"(x[7]), "f"(x[6]), "f"(x[5]), "f"(x[4]), "f"(__uint_as_float((unsigned)(p ^ q ^ r ^ s) & 0x3fffffff)),
                   "f"(x[2]), "f"(x[1]), "f"(x[0]) : "memory");
}

// run: three_sources(in f32[333], in f32[333], out f32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void three_sources(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float low, high;
    asm("min.f32 %0, %1, %2, %3;" : "=f"(low) : "f"(a[i]), "f"(b[i]), "f"(0.5f));
    asm("max.f32 %0, %1, %2, %3;" : "=f"(high) : "f"(a[i]), "f"(b[i]), "f"(-0.5f));
    c[i] = low + high;
}

extern "C" __global__ void stolen_work(int *c)
{
    __shared__ alignas(16) uint4 answer;
    __shared__ unsigned long long barrier;
    unsigned s = (unsigned)__cvta_generic_to_shared(&answer), b = (unsigned)__cvta_generic_to_shared(&barrier);
    unsigned x, got;
    asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];"
                 ::"r"(s), "r"(b) : "memory");
    asm volatile("{ .reg .b128 r; .reg .pred p; ld.shared.b128 r, [%2];\n\t"
                 "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, r; selp.u32 %1, 1, 0, p;\n\t"
                 "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %0, r; }"
                 : "=r"(x), "=r"(got) : "r"(s) : "memory");
    c[threadIdx.x] = got ? (int)x : -1;
}
