// Streams through memory, for blocks of 256 threads that do not reach beyond the arrays.
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void copy1(const float *a, float *b) { b[INDEX] = a[INDEX]; }
extern "C" __global__ void copy2(const float2 *a, float2 *b) { b[INDEX] = a[INDEX]; }
extern "C" __global__ void copy4(const float4 *a, float4 *b) { b[INDEX] = a[INDEX]; }

extern "C" __global__ void copy1x4(const float *__restrict__ a, float *__restrict__ b) {
  unsigned stride = gridDim.x * blockDim.x, i = INDEX;
  float x = a[i], y = a[i + stride], z = a[i + 2 * stride], w = a[i + 3 * stride];
  b[i] = x, b[i + stride] = y, b[i + 2 * stride] = z, b[i + 3 * stride] = w;
}

extern "C" __global__ void copy4x2(const float4 *__restrict__ a, float4 *__restrict__ b) {
  unsigned stride = gridDim.x * blockDim.x, i = INDEX;
  float4 x = a[i], y = a[i + stride];
  b[i] = x, b[i + stride] = y;
}

extern "C" __global__ void axpy1(const float *__restrict__ x, float *__restrict__ y, float a) {
  y[INDEX] = a * x[INDEX] + y[INDEX];
}

extern "C" __global__ void axpy4(const float4 *__restrict__ x, float4 *__restrict__ y, float a) {
  float4 u = x[INDEX], v = y[INDEX];
  v.x = a * u.x + v.x, v.y = a * u.y + v.y, v.z = a * u.z + v.z, v.w = a * u.w + v.w;
  y[INDEX] = v;
}
