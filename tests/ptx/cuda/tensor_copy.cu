// archs: sm_90 sm_100 sm_120
// Copies of tiles described by a tensor map, which the host would encode. Not run.

struct alignas(64) TensorMap { unsigned long long words[16]; };

__device__ __forceinline__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

extern "C" __global__ void tensor_tiles(const __grid_constant__ TensorMap from, const __grid_constant__ TensorMap to, int x, int y)
{
    __shared__ alignas(128) float tile[1024];
    __shared__ unsigned long long barrier;
    unsigned b = shared_address(&barrier), s = shared_address(tile);
    if (threadIdx.x == 0) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&from) : "memory");
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" ::"r"(b) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     ::"r"(s), "l"(&from), "r"(x), "r"(y), "r"(b) : "memory");
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint"
                     " [%0], [%1, {%2, %3, %3}], [%4], %5, %6;"
                     ::"r"(s), "l"(&from), "r"(x), "r"(y), "r"(b), "h"((unsigned short)3), "l"(0x14f0000000000000ull) : "memory");
        asm volatile("cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%0, {%1}];" ::"l"(&from), "r"(x) : "memory");
    }
    __syncthreads();
    asm volatile("{ .reg .pred P1; LAB_WAIT: mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], 0; @P1 bra DONE; bra LAB_WAIT; DONE: }"
                 ::"r"(b) : "memory");
    tile[threadIdx.x] += 1;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                     ::"l"(&to), "r"(x), "r"(y), "r"(s) : "memory");
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];"
                     ::"l"(&to), "r"(x), "r"(y), "r"(s) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}

extern "C" __global__ void image_columns(const __grid_constant__ TensorMap from, int x)
{
    __shared__ alignas(128) float tile[1024];
    __shared__ unsigned long long barrier;
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %2, %2, %2}], [%3], {%4, %4};"
                 ::"r"(shared_address(tile)), "l"(&from), "r"(x), "r"(shared_address(&barrier)), "h"((unsigned short)1) : "memory");
}
