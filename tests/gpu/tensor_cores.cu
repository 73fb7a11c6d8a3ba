// Products of doubles on tensor cores beside a chain of multiply-adds in the order of the loop, bit for bit.
// Arguments: numbers of tiles of matmul_double_linear. Compiled with -fmad=false (and CONTRACTED=0), the chain rounds twice.
#include "matmul_double_linear.h"

#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <random>
#include <vector>

#ifndef CONTRACTED
#define CONTRACTED 1
#endif

namespace {

void demand(cudaError_t status, const char *what)
{
  if (status == cudaSuccess) return;
  printf("error %s: %s\n", what, cudaGetErrorString(status));
  exit(2);
}

__global__ void chain(int m, int n, int k, const double *a, const double *b, double *c)
{
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) return;
  double sum = 0.0;
  for (int l = 0; l < k; l++) {
    const double x = a[static_cast<long>(row) * k + l], y = b[static_cast<long>(l) * n + column];
    sum = CONTRACTED ? __fma_rn(x, y, sum) : __dadd_rn(__dmul_rn(x, y), sum);
  }
  c[static_cast<long>(row) * n + column] = sum;
}

typedef std::mt19937_64 Random;

double uniform(Random &random) { return 2 * (static_cast<double>(random() >> 11) / 9007199254740992.0) - 1; }
double power(Random &random, int least, int most)
{
  return ldexp(uniform(random), least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1)));
}

struct Kind {
  const char *name;
  bool exact; // whether a difference is a failure
  double (*draw)(Random &, bool left);
};

const Kind kinds[] = {
  { "normal", true, [](Random &r, bool) { return uniform(r); } },
  { "exponents", true, [](Random &r, bool) { return power(r, -480, 480); } },
  { "cancelling", true, [](Random &r, bool left) { return left ? uniform(r) : (r() & 1 ? 1.0 : -1.0); } },
  { "zeros", true, [](Random &r, bool) { return r() % 4 ? (r() & 1 ? 0.0 : -0.0) : static_cast<double>(r() % 3) - 1; } },
  { "infinities and NaN", true,
    [](Random &r, bool) { return r() % 97 ? uniform(r) : (r() % 3 ? (r() & 1 ? INFINITY : -INFINITY) : NAN); } },
  { "overflow", true, [](Random &r, bool) { return power(r, 505, 512); } },
  { "subnormal factors", false, [](Random &r, bool left) { return left ? power(r, -1074, -1023) : uniform(r); } },
  { "subnormal products", false, [](Random &r, bool) { return power(r, -537, -515); } },
  { "about the least normal", false, [](Random &r, bool) { return power(r, -512, -505); } },
};

// Numbers in the order of their values: neighbours are one apart, and so are -0 and 0.
int64_t place(double value)
{
  int64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits < 0 ? -(bits & INT64_MAX) - 1 : bits;
}

struct Sizes { int m, n, k; };

} // namespace

int main(int count, char **arguments)
{
  const Sizes sizes[] = { { 333, 257, 129 }, { 512, 512, 1023 }, { 128, 128, 64 }, { 1000, 1021, 777 }, { 65, 66, 7 } };
  int failures = 0;
  for (const Kind &kind : kinds)
    for (const Sizes &s : sizes) {
      Random random(static_cast<unsigned>(s.m * 31 + s.k));
      const size_t of_a = static_cast<size_t>(s.m) * s.k, of_b = static_cast<size_t>(s.k) * s.n, of_c = static_cast<size_t>(s.m) * s.n;
      std::vector<double> a(of_a), b(of_b), wanted(of_c), found(of_c);
      for (double &x : a) x = kind.draw(random, true);
      for (double &x : b) x = kind.draw(random, false);
      double *on_a, *on_b, *on_c;
      demand(cudaMalloc(&on_a, of_a * 8), "memory");
      demand(cudaMalloc(&on_b, of_b * 8), "memory");
      demand(cudaMalloc(&on_c, of_c * 8), "memory");
      demand(cudaMemcpy(on_a, a.data(), of_a * 8, cudaMemcpyHostToDevice), "copy");
      demand(cudaMemcpy(on_b, b.data(), of_b * 8, cudaMemcpyHostToDevice), "copy");
      chain<<<dim3((s.n + 31) / 32, (s.m + 7) / 8), dim3(32, 8)>>>(s.m, s.n, s.k, on_a, on_b, on_c);
      demand(cudaDeviceSynchronize(), "the chain");
      demand(cudaMemcpy(wanted.data(), on_c, of_c * 8, cudaMemcpyDeviceToHost), "copy");
      size_t subnormal = 0;
      for (double x : wanted) subnormal += fpclassify(x) == FP_SUBNORMAL;
      for (int each = 1; each < count; each++) {
        const int tile = atoi(arguments[each]);
        matmul_double_linear_params params = {};
        params.B0 = params.B1 = 16;
        params.tile = tile;
        demand(cudaMemset(on_c, 0xff, of_c * 8), "memory");
        const int status = matmul_double_linear_launch(s.m, s.n, s.k, on_a, on_b, on_c, &params, 0);
        if (status != CF_OK) {
          printf("error tile %d: %s\n", tile, matmul_double_linear_strerror(status));
          return 2;
        }
        demand(cudaDeviceSynchronize(), "the tile");
        demand(cudaMemcpy(found.data(), on_c, of_c * 8, cudaMemcpyDeviceToHost), "copy");
        size_t differ = 0, normal = 0, signs = 0, example = of_c;
        int64_t most = 0;
        for (size_t i = 0; i < of_c; i++) {
          if ((wanted[i] != wanted[i] && found[i] != found[i]) || memcmp(&wanted[i], &found[i], 8) == 0) continue;
          differ++;
          if (example == of_c) example = i;
          if (wanted[i] == found[i]) signs++; // zeros
          else if (fpclassify(wanted[i]) != FP_SUBNORMAL && wanted[i] != 0) normal++;
          const int64_t apart = llabs(place(wanted[i]) - place(found[i]));
          if (wanted[i] == wanted[i] && found[i] == found[i] && apart > most) most = apart;
        }
        const bool fails = differ != 0 && (kind.exact || !CONTRACTED || normal != 0);
        failures += fails;
        printf("%-24s %4d x %4d x %4d  tile %d: %zu of %zu differ (%zu signs of zero, %zu normal), by %lld places; %zu are subnormal%s\n",
               kind.name, s.m, s.n, s.k, tile, differ, of_c, signs, normal, static_cast<long long>(most), subnormal,
               fails ? "  FAILED" : "");
        if (differ) printf("    [%zu] is %a, expected %a\n", example, found[example], wanted[example]);
      }
      cudaFree(on_a);
      cudaFree(on_b);
      cudaFree(on_c);
    }
  printf("%d failures\n", failures);
  return failures != 0;
}
