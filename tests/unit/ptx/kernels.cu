// Kernels whose PTX has many different instructions, for tests of the opcode table.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <mma.h>

namespace cg = cooperative_groups;

extern "C" __global__ void stencil(const float* __restrict__ a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0f;
}

extern "C" __global__ void reduce(const double* a, double* b, int n) {
  __shared__ double part[256];
  int t = threadIdx.x;
  double sum = 0;
  for (int i = t; i < n; i += 256) sum += sqrt(a[i]) * sin(a[i]);
  part[t] = sum;
  __syncthreads();
  for (int k = 128; k; k >>= 1) {
    if (t < k) part[t] += part[t + k];
    __syncthreads();
  }
  if (!t) atomicAdd(b, part[0]);
}

extern "C" __global__ void warp(int* a, unsigned long long* m) {
  int v = a[threadIdx.x];
  for (int k = 16; k; k >>= 1) v += __shfl_down_sync(~0u, v, k);
  unsigned ballot = __ballot_sync(~0u, v > 3);
  if (__any_sync(~0u, v)) {
    v += __popc(ballot) + __clz(v) + __ffs(v) + __brev(v);
    v += __byte_perm(v, ballot, 0x3210) + __funnelshift_l(v, ballot, 3);
  }
  v += __reduce_add_sync(~0u, v) + __match_any_sync(~0u, v);
  int same;
  v += __match_all_sync(~0u, v, &same) + same;
  a[threadIdx.x] = v;
  atomicMax(m, (unsigned long long)v);
  atomicCAS(m + 1, 1ull, 2ull);
  m[2] = __umul64hi(m[3], m[4]) + __mulhi(v, 3) + clock64() + __activemask() + __usad(v, 3, 4) + __dp4a(v, v, v);
  __nanosleep(100);
}

extern "C" __global__ void narrow(__half2* a, __nv_bfloat162* b, float* c, __nv_fp8_e4m3* d) {
  int i = threadIdx.x;
  a[i] = __hfma2(a[i], a[i + 1], a[i + 2]);
  b[i] = __hmax2(__hadd2(b[i], b[i + 1]), b[i + 3]);
  c[i] = __half2float(a[i].x) + __bfloat162float(b[i].y) + (float)d[i];
  d[i + 1] = __nv_fp8_e4m3(c[i]);
  if (__hlt(a[i].x, a[i].y)) {
    c[i] = tanhf(c[i]) + __expf(c[i]) + __logf(c[i]) + rsqrtf(c[i]) + __fdividef(c[i], 3.f);
    c[i] += copysignf(1.f, c[i]) + fmodf(c[i], 2.f);
  }
}

extern "C" __global__ void matrix(half* a, half* b, float* c) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, half, row_major> A;
  fragment<matrix_b, 16, 16, 16, half, col_major> B;
  fragment<accumulator, 16, 16, 16, float> C;
  fill_fragment(C, 0.f);
  load_matrix_sync(A, a, 16);
  load_matrix_sync(B, b, 16);
  mma_sync(C, A, B, C);
  store_matrix_sync(c, C, 16, mem_row_major);
}

extern "C" __global__ void asynchronous(const float* g, float* o) {
  __shared__ float s[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  cg::memcpy_async(cg::this_thread_block(), s, g, sizeof(s));
  cg::wait(cg::this_thread_block());
  cuda::memcpy_async(s + threadIdx.x, g + threadIdx.x, cuda::aligned_size_t<4>(4), bar);
  bar.arrive_and_wait();
  o[threadIdx.x] = s[threadIdx.x ^ 1];
  __threadfence();
  __threadfence_system();
  cuda::atomic_ref<float> shared(o[3]);
  shared.fetch_add(1.f, cuda::memory_order_acq_rel);
  shared.store(3.f, cuda::memory_order_release);
}

extern "C" __global__ void cluster(int* a) {
  extern __shared__ int s[];
  auto all = cg::this_cluster();
  s[threadIdx.x] = a[threadIdx.x];
  all.sync();
  a[threadIdx.x] = all.map_shared_rank(s, all.block_rank() ^ 1)[threadIdx.x] + all.num_blocks();
  all.sync();
}

extern "C" __global__ void textures(cudaTextureObject_t t, cudaSurfaceObject_t s, float* o) {
  o[0] = tex2D<float>(t, 1.f, 2.f) + tex1Dfetch<float>(t, 3) + tex2DLod<float>(t, 1.f, 2.f, 3.f);
  surf2Dwrite(3.f, s, 4, 5);
  o[1] = surf2Dread<float>(s, 8, 9);
}

__device__ __noinline__ int square(int a) { return a * a / 7 % 3; }
__device__ __noinline__ void set(int* a) { *a = 1; }
__device__ int (*table[2])(int) = {square, square};

extern "C" __global__ void calls(int* a) {
  a[0] = square(a[1]);
  set(a);
  a[2] = table[a[3] & 1](a[4]);
  if (a[5]) printf("%d\n", a[0]);
  if (a[6] < 0) __trap();
  switch (a[7]) {
    case 0: a[1] = 3; break;
    case 1: a[2] = 4; break;
    case 2: a[9] = 7; break;
  }
  unsigned __int128 wide = ((unsigned __int128)a[8] << 70) * a[9];
  a[10] = (int)(wide >> 64);
}

extern "C" __global__ void mixed(float* a, double* d, long long* l, char* c, short* h) {
  int i = threadIdx.x;
  float local[33];
  for (int k = 0; k < 33; k++) local[k] = a[k * i];
  a[i] = local[(int)a[i] % 33] + __ldg(a + i) + __ldcg(a + i + 1) + __ldcs(a + 5) + __ldcv(a + 6);
  __stcs(a + 7, 1.f);
  __stwt(a + 8, 2.f);
  d[i] = rint(d[i]) + 1.0 / d[i] + fma(d[i], d[i], d[i]) + (double)l[i] + (double)a[i];
  l[i] = llabs(l[i]) % (l[i + 1] | 1) + __double_as_longlong(d[i]);
  c[i] = (char)(c[i] + h[i]);
  h[i] = min(h[i], (short)3);
  float4 v = ((float4*)a)[i];
  ((float4*)a)[i + 9] = make_float4(v.w, v.z, v.y, v.x);
  a[i] += isinf(a[i]) ? 1.f : fminf(a[i], fmaxf(a[i + 1], 2.f));
  asm volatile("mad.lo.cc.u32 %0, %0, %0, %0; addc.u32 %0, %0, 0;" : "+r"(*(int*)a));
  asm volatile("prefetch.global.L2 [%0];" ::"l"(a));
}
