// archs: sm_90 sm_100 sm_120
// Policies for the second-level cache, discards, loads of more than is asked for, accesses to several devices.

// run: policies(in f32[128], out f32[128]) grid=(1) block=(128)
extern "C" __global__ void policies(const float *a, float *c)
{
    float x, y;
    asm volatile("{ .reg .b64 policy;\n\tcreatepolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 policy, 0.5;\n\t"
                 "ld.global.L2::cache_hint.f32 %0, [%1], policy; }" : "=f"(x) : "l"(a + threadIdx.x));
    asm volatile("{ .reg .b64 policy;\n\tcreatepolicy.range.global.L2::evict_first.L2::evict_unchanged.b64 policy, [%1], 256, 512;\n\t"
                 "ld.global.L2::cache_hint.L2::128B.f32 %0, [%1], policy; }" : "=f"(y) : "l"(a + (threadIdx.x ^ 3)));
    asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(c + threadIdx.x), "f"(x + y), "l"(0x14f0000000000000ull) : "memory");
    asm volatile("ld.global.L2::256B.f32 %0, [%1];" : "=f"(x) : "l"(a + threadIdx.x));
    asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(a) : "memory");
}

extern "C" __global__ void discarded(float *c, float *several)
{
    float x;
    asm volatile("discard.global.L2 [%0], 128;" ::"l"(c) : "memory");
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.f32 %0, [%1];" : "=f"(x) : "l"(several) : "memory");
    asm volatile("multimem.st.relaxed.sys.global.f32 [%0], %1;" ::"l"(several), "f"(x) : "memory");
    asm volatile("multimem.red.relaxed.sys.global.add.f32 [%0], %1;" ::"l"(several), "f"(x) : "memory");
    asm volatile("fence.proxy.alias; fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
}
