// Kernels on which the PTX passes should show in time, or on which nvcc leaves nothing to them.
#include <cstdint>

namespace {

struct Point {
  float x, y, z, w;
};

struct Colour {
  unsigned char r, g, b, a;
};

struct Arrays {
  const float *from[2];
};

__device__ int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

} // namespace

// One of two arrays in global memory, chosen at run time: nvcc finds the memory by itself.
// run: select_global(in f32[512], in f32[512], out f32[512], i32=1) grid=(2) block=(256)
// time: select_global(in f32[134217728], in f32[134217728], out f32[134217728], i32=1) grid=(524288) block=(256)
extern "C" __global__ void select_global(const float *a, const float *b, float *c, int which)
{
  const float *p = which ? a : b;
  c[thread()] = 2 * p[thread()];
}

// The same by a structure that is indexed: the pointer is read from the stack, and stays generic.
// run: select_from_struct(in f32[512], in f32[512], out f32[512], i32=1) grid=(2) block=(256)
// time: select_from_struct(in f32[134217728], in f32[134217728], out f32[134217728], i32=1) grid=(524288) block=(256)
extern "C" __global__ void select_from_struct(const float *a, const float *b, float *c, int which)
{
  Arrays arrays = {{a, b}};
  const float *p = arrays.from[(blockIdx.x + which) & 1];
  c[thread()] = 2 * p[thread()];
}

// Global memory or a tile in shared memory: it is not one memory, and has to stay generic.
// run: select_shared_or_global(in f32[1024], out f32[512], i32=7, i32=1) grid=(2) block=(256)
// time: select_shared_or_global(in f32[1024], out f32[4194304], i32=1024, i32=1) grid=(16384) block=(256)
extern "C" __global__ void select_shared_or_global(const float *a, float *c, int rounds, int which)
{
  __shared__ float tile[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) tile[i] = a[i];
  __syncthreads();
  const float *p = (blockIdx.x + which) & 1 ? tile : a;
  float sum = 0;
  for (int k = 0; k < rounds; k++) sum = sum * 0.5f + p[(threadIdx.x + 32 * k) & 1023];
  c[thread()] = sum;
}

// Shared memory aligned by hand, as for 128-byte rows: the pointer goes through an integer, where nvcc
// loses the memory.
// run: aligned_shared(in f32[1024], out f32[512], i32=7) grid=(2) block=(256) smem=4224
// time: aligned_shared(in f32[1024], out f32[4194304], i32=1024) grid=(16384) block=(256) smem=4224
extern "C" __global__ void aligned_shared(const float *a, float *c, int rounds)
{
  extern __shared__ char raw[];
  float *tile = reinterpret_cast<float *>((reinterpret_cast<uintptr_t>(raw) + 127) & ~uintptr_t(127));
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) tile[i] = a[i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < rounds; k++) sum = sum * 0.5f + tile[(threadIdx.x + 32 * k) & 1023];
  c[thread()] = sum;
}

// Four neighbouring loads a thread, nothing said of the alignment.
// run: points_norm(in f32[1024], out f32[256]) grid=(2) block=(128)
// time: points_norm(in f32[268435456], out f32[67108864]) grid=(262144) block=(256)
extern "C" __global__ void points_norm(const Point *a, float *c)
{
  const Point p = a[thread()];
  c[thread()] = p.x * p.x + p.y * p.y + p.z * p.z + p.w * p.w;
}

// Four neighbouring loads and four stores.
// run: points_move(in f32[1024], out f32[1024], f32=0.5) grid=(2) block=(128)
// time: points_move(in f32[268435456], out f32[268435456], f32=0.5) grid=(262144) block=(256)
extern "C" __global__ void points_move(const Point *__restrict__ a, Point *__restrict__ c, float by)
{
  const Point p = a[thread()];
  c[thread()] = {p.x + by, p.y + by, p.z + by, p.w + by};
}

// The same in place.
// run: points_scale(inout f32[1024], f32=0.5) grid=(2) block=(128)
// time: points_scale(inout f32[268435456], f32=0.5) grid=(262144) block=(256)
extern "C" __global__ void points_scale(Point *c, float by)
{
  Point p = c[thread()];
  p.x *= by, p.y *= by, p.z *= by, p.w *= by;
  c[thread()] = p;
}

// Four neighbouring bytes, loaded and stored.
// run: colours_grey(in u8[1024], out u8[1024]) grid=(2) block=(128)
// time: colours_grey(in u8[536870912], out u8[536870912]) grid=(524288) block=(256)
extern "C" __global__ void colours_grey(const Colour *__restrict__ a, Colour *__restrict__ c)
{
  const Colour p = a[thread()];
  const unsigned char grey = (77 * p.r + 151 * p.g + 28 * p.b) >> 8;
  c[thread()] = {grey, grey, grey, p.a};
}

// A copy that is unrolled by four; load, store, load, store: the passes must not exchange them.
// run: copy_by_four(in f32[1024], out f32[1024]) grid=(2) block=(128)
// time: copy_by_four(in f32[268435456], out f32[268435456]) grid=(262144) block=(256)
extern "C" __global__ void copy_by_four(const float *a, float *c)
{
#pragma unroll
  for (int i = 0; i < 4; i++) c[4 * thread() + i] = a[4 * thread() + i];
}

// The same, and the arrays are said to be different: the loads may go before the stores.
// run: copy_by_four_restrict(in f32[1024], out f32[1024]) grid=(2) block=(128)
// time: copy_by_four_restrict(in f32[268435456], out f32[268435456]) grid=(262144) block=(256)
extern "C" __global__ void copy_by_four_restrict(const float *__restrict__ a, float *__restrict__ c)
{
#pragma unroll
  for (int i = 0; i < 4; i++) c[4 * thread() + i] = a[4 * thread() + i];
}

// A load in a loop whose stores cannot be to it, as the arrays are said to be different: nvcc
// moves it out.
// run: invariant_restrict(in f32[256], out f32[1792], i32=7) grid=(2) block=(128)
// time: invariant_restrict(in f32[4194304], out f32[268435456], i32=64) grid=(16384) block=(256)
extern "C" __global__ void invariant_restrict(const float *__restrict__ a, float *__restrict__ c, int rounds)
{
  const int threads = gridDim.x * blockDim.x;
  for (int k = 0; k < rounds; k++) c[thread() + k * threads] = a[thread()] * k;
}

// The same, and nothing is said of the arrays: the load has to stay, unless pre is told that they are different.
// run: invariant_may_alias(in f32[256], out f32[1792], i32=7) grid=(2) block=(128)
// time: invariant_may_alias(in f32[4194304], out f32[268435456], i32=64) grid=(16384) block=(256)
extern "C" __global__ void invariant_may_alias(const float *a, float *c, int rounds)
{
  const int threads = gridDim.x * blockDim.x;
  for (int k = 0; k < rounds; k++) c[thread() + k * threads] = a[thread()] * k;
}

// Loads are of even elements and stores to odd ones: nvcc leaves the load in the loop.
// run: invariant_even(inout f32[3584], i32=7) grid=(2) block=(128)
// time: invariant_even(inout f32[268435456], i32=64) grid=(8192) block=(256)
extern "C" __global__ void invariant_even(float *c, int rounds)
{
  const size_t first = 2 * (blockIdx.x * size_t(blockDim.x) + threadIdx.x), step = 2 * size_t(gridDim.x) * blockDim.x;
  for (int k = 0; k < rounds; k++) c[first + k * step + 1] = c[first] * k;
}

// The stores are to shared memory: nvcc moves the load out.
// run: invariant_shared(in f32[512], out f32[512], i32=7) grid=(2) block=(256)
// time: invariant_shared(in f32[4194304], out f32[4194304], i32=1024) grid=(16384) block=(256)
extern "C" __global__ void invariant_shared(const float *a, float *c, int rounds)
{
  __shared__ float tile[1024];
  for (int k = 0; k < rounds; k++) tile[threadIdx.x + 256 * (k & 3)] = a[thread()] * k;
  __syncthreads();
  c[thread()] = tile[threadIdx.x];
}

// A quotient on one way of a branch, and again behind it: nvcc leaves both, and unrolls the loop by four, where k + 1
// stands in two registers of each copy. pre, which goes by names, sees different quotients, but for the rest of the loop.
// run: partial_quotient(in u32[256], out u32[256], inout u32[256], i32=7, i32=1) grid=(2) block=(128)
// time: partial_quotient(in u32[4194304], out u32[4194304], inout u32[4194304], i32=256, i32=1) grid=(16384) block=(256)
extern "C" __global__ void partial_quotient(const unsigned *a, unsigned *c, unsigned *d, int rounds, int mask)
{
  const unsigned x = a[thread()];
  unsigned sum = 0;
  for (int k = 0; k < rounds; k++) {
    if (k & mask) d[thread()] = x / (k + 1u);
    __syncthreads();
    sum += x / (k + 1u);
  }
  c[thread()] = sum;
}

// The same with something to do on the other way.
// run: partial_quotient_else(in u32[256], out u32[256], inout u32[256], i32=7, i32=1) grid=(2) block=(128)
// time: partial_quotient_else(in u32[4194304], out u32[4194304], inout u32[4194304], i32=256, i32=1) grid=(16384) block=(256)
extern "C" __global__ void partial_quotient_else(const unsigned *a, unsigned *c, unsigned *d, int rounds, int mask)
{
  const unsigned x = a[thread()];
  unsigned sum = 0;
  for (int k = 0; k < rounds; k++) {
    if (k & mask) d[thread()] = x / (k + 1u);
    else c[thread()] = sum;
    __syncthreads();
    sum += x / (k + 1u);
  }
  c[thread()] = sum;
}

// A quotient on one way of a branch, and again behind it, in a loop that stays as it is: nvcc leaves both. The other way
// has no block of its own; pre makes one.
// run: partial_quotient_rolled(in u32[256], out u32[256], inout u32[256], i32=7, i32=1) grid=(2) block=(128)
// time: partial_quotient_rolled(in u32[4194304], out u32[4194304], inout u32[4194304], i32=256, i32=1) grid=(16384) block=(256)
extern "C" __global__ void partial_quotient_rolled(const unsigned *a, unsigned *c, unsigned *d, int rounds, int mask)
{
  const unsigned x = a[thread()];
  unsigned sum = 0;
#pragma unroll 1
  for (int k = 0; k < rounds; k++) {
    if (k & mask) d[thread()] = x / (k + 1u);
    __syncthreads();
    sum += x / (k + 1u);
  }
  c[thread()] = sum;
}

// The same with something to do on the other way.
// run: partial_quotient_else_rolled(in u32[256], out u32[256], inout u32[256], i32=7, i32=1) grid=(2) block=(128)
// time: partial_quotient_else_rolled(in u32[4194304], out u32[4194304], inout u32[4194304], i32=256, i32=1) grid=(16384) block=(256)
extern "C" __global__ void partial_quotient_else_rolled(const unsigned *a, unsigned *c, unsigned *d, int rounds, int mask)
{
  const unsigned x = a[thread()];
  unsigned sum = 0;
#pragma unroll 1
  for (int k = 0; k < rounds; k++) {
    if (k & mask) d[thread()] = x / (k + 1u);
    else c[thread()] = sum;
    __syncthreads();
    sum += x / (k + 1u);
  }
  c[thread()] = sum;
}

// A load on one way of a branch, and again behind it, where nothing is written between them: nvcc
// loads it once.
// run: partial_load(in f32[1048576], out f32[256], inout f32[256], i32=7, i32=1) grid=(2) block=(128)
// time: partial_load(in f32[1048576], out f32[4194304], inout f32[4194304], i32=256, i32=1) grid=(16384) block=(256)
extern "C" __global__ void partial_load(const float *__restrict__ a, float *c, float *d, int rounds, int mask)
{
  float sum = 0;
  for (int k = 0; k < rounds; k++) {
    const int at = (thread() + 4099 * k) & 0xfffff;
    if (k & mask) d[thread()] = a[at];
    sum += a[at];
  }
  c[thread()] = sum;
}
