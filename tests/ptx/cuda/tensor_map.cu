// archs: sm_90a
// A tensor map changed by the device, and fences for those who use it. Not run.

struct alignas(64) TensorMap { unsigned long long words[16]; };

extern "C" __global__ void tensor_map(TensorMap *map, const float *where, int width)
{
    __shared__ alignas(128) TensorMap copy;
    unsigned s = (unsigned)__cvta_generic_to_shared(&copy);
    if (threadIdx.x < 16)
        copy.words[threadIdx.x] = map->words[threadIdx.x];
    __syncwarp();
    if (threadIdx.x == 0) {
        asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(s), "l"(where) : "memory");
        asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::"r"(s), "r"(width) : "memory");
    }
    __syncwarp();
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;"
                 ::"l"(map), "r"(s) : "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}
