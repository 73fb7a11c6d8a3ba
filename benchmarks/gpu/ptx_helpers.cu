// What the benchmark of the PTX passes does beside its kernels: contents of arrays, comparison, a copy.

namespace {

// The finaliser of splitmix64.
__device__ unsigned long long mixed(unsigned long long z)
{
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

__device__ long first() { return blockIdx.x * long(blockDim.x) + threadIdx.x; }

__device__ long step() { return long(gridDim.x) * blockDim.x; }

} // namespace

extern "C" __global__ void fill_bits(unsigned *words, long count, unsigned key)
{
  for (long i = first(); i < count; i += step()) words[i] = unsigned(mixed((i + 1) * 0x9e3779b97f4a7c15ull + key));
}

extern "C" __global__ void fill_floats(float *words, long count, unsigned key)
{
  for (long i = first(); i < count; i += step())
    words[i] = float(mixed((i + 1) * 0x9e3779b97f4a7c15ull + key) >> 40) * 0x1p-21f - 4;
}

extern "C" __global__ void fill_doubles(double *words, long count, unsigned key)
{
  for (long i = first(); i < count; i += step())
    words[i] = double(mixed((i + 1) * 0x9e3779b97f4a7c15ull + key) >> 11) * 0x1p-50 - 4;
}

// Adds to `different` how many words are not the same.
extern "C" __global__ void compare(const unsigned *one, const unsigned *other, long count, unsigned *different)
{
  unsigned found = 0;
  for (long i = first(); i < count; i += step()) found += one[i] != other[i];
  if (found != 0) atomicAdd(different, found);
}

extern "C" __global__ void copy(const float4 *from, float4 *to)
{
  to[first()] = from[first()];
}
