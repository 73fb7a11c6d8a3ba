// Cooperative groups: tiles, coalesced threads, the whole grid.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

template <int Size> __device__ int tile_sum(int x)
{
    auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
    for (int o = tile.size() / 2; o > 0; o /= 2)
        x += tile.shfl_down(x, o);
    return tile.shfl(x, 0) + tile.thread_rank() + 100 * tile.meta_group_rank();
}

// run: tiles(in i32[256], out i32[256]) grid=(2) block=(128)
extern "C" __global__ void tiles(const int *a, int *c)
{
    int i = cg::this_grid().thread_rank();
    c[i] = tile_sum<4>(a[i]) + 3 * tile_sum<16>(a[i]) + 7 * tile_sum<32>(a[i]) + tile_sum<1>(a[i]);
}

// run: coalesced(in i32[128], out i32[128]) grid=(1) block=(128)
extern "C" __global__ void coalesced(const int *a, int *c)
{
    cg::thread_block block = cg::this_thread_block();
    int i = block.thread_rank(), r = -1;
    if (a[i] > 0) {
        auto group = cg::coalesced_threads();
        group.sync();
        r = group.shfl(a[i], 0) + group.ballot(a[i] & 1);
    }
    block.sync();
    c[i] = r + block.group_index().x + block.dim_threads().x;
}

// run: groups_at_run_time(in i32[64], out i32[64], i32=8) grid=(1) block=(64)
extern "C" __global__ void groups_at_run_time(const int *a, int *c, int size)
{
    auto group = cg::tiled_partition(cg::this_thread_block(), size);
    int i = threadIdx.x;
    c[i] = group.thread_rank() * 1000 + group.size();
    group.sync();
    c[i] += a[i];
}

// A barrier of the whole grid: launched cooperatively.
// run: grid_phases(inout i32[1024]) grid=(8) block=(128) cooperative
extern "C" __global__ void grid_phases(int *c)
{
    auto grid = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int phase = 1; phase <= 3; phase++) {
        int neighbour = c[(i + 128 * phase + 5) & 1023];
        grid.sync();
        c[i] = c[i] * 3 + neighbour;
        grid.sync();
    }
}
