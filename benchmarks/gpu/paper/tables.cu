/* Times what the paper's tables 1 to 3 have: kernels at the points of the tables, and serial C, on the device and the
   processor at hand. One line of JSON for each; every result is compared with that of the serial C, bit for bit.

     tables SIZES_OF_TABLE_1... - STEPS_AND_SIZE_OF_TABLE_2 - SIZE_OF_TABLE_3 - MILLISECONDS

   as in `tables 1024 2048 - 4 32770 - 16384 - 20`: so long a kernel is timed for. Points are in points.h, which
   prepare.py writes; kernel0 of figure 4 is compiled in figure4.cu, the other ones are generated. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "figure3.h"
#include "jacobi1d.h"
#include "points.h"
#include "serial.h"
#include "transpose.h"

extern "C" int figure4_launch(int n, const int *a, const int *b, int *c, int B0, int ub1, int s);

static void must(cudaError_t error, const char *what)
{
  if (error == cudaSuccess) return;
  printf("{\"failed\": \"%s: %s\"}\n", what, cudaGetErrorString(error));
  exit(1);
}

static void *host(size_t bytes)
{
  void *found = malloc(bytes);
  if (found) return found;
  printf("{\"failed\": \"no memory for %zu bytes\"}\n", bytes);
  exit(1);
}

static void *device(size_t bytes)
{
  void *found = nullptr;
  must(cudaMalloc(&found, bytes), "memory of the device");
  return found;
}

static void to_device(void *to, const void *from, size_t bytes) { must(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copy"); }

static double seconds()
{
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double wanted_ms = 20;

/* Milliseconds of a launch, the least mean of three rows of launches; launches that fail are told by their status. */
template <typename Launch> static double timed(Launch launch, int *status)
{
  cudaEvent_t begin, end;
  must(cudaEventCreate(&begin), "event");
  must(cudaEventCreate(&end), "event");
  *status = launch();
  if (*status) return 0;
  double best = 0;
  int launches = 1;
  for (int turn = 0; turn < 4; turn++) {
    must(cudaEventRecord(begin), "event");
    for (int k = 0; k < launches; k++) launch();
    must(cudaEventRecord(end), "event");
    must(cudaEventSynchronize(end), "kernel");
    float all = 0;
    must(cudaEventElapsedTime(&all, begin, end), "event");
    const double one = (double)all / launches;
    if (turn == 0) { /* the first row is a guess at how many launches fill the time */
      const double fitting = one > 0 ? wanted_ms / 3 / one : 1;
      launches = fitting < 1 ? 1 : fitting > 1000 ? 1000 : (int)fitting;
    } else if (turn == 1 || one < best) {
      best = one;
    }
  }
  must(cudaEventDestroy(begin), "event");
  must(cudaEventDestroy(end), "event");
  return best;
}

/* Milliseconds of serial C, the least of three, or one where it takes longer than half a second. */
template <typename Run> static double timed_on_the_host(Run run)
{
  double best = 0;
  for (int turn = 0; turn < 3; turn++) {
    const double begin = seconds();
    run();
    const double took = 1e3 * (seconds() - begin);
    if (turn == 0 || took < best) best = took;
    if (took > 500) break;
  }
  return best;
}

static void serial_line(int table, int size, const char *kind, const char *how, double ms)
{
  printf("{\"table\": %d, \"size\": %d, \"serial\": \"%s\", \"how\": \"%s\", \"ms\": %.6g}\n", table, size, kind, how, ms);
  fflush(stdout);
}

static void kernel_line(int table, int size, const char *kernel, const char *point, int status, int leaf, double ms, bool right)
{
  printf("{\"table\": %d, \"size\": %d, \"kernel\": \"%s\", %s, \"status\": %d, \"leaf\": %d, \"ms\": %.6g, \"right\": %s}\n", table,
         size, kernel, point, status, leaf, ms, right ? "true" : "false");
  fflush(stdout);
}

static unsigned state = 12345;
static unsigned next() { return (state = state * 1664525u + 1013904223u) >> 8; }

static bool same(const void *on_device, const void *expected, void *scratch, size_t bytes)
{
  must(cudaMemcpy(scratch, on_device, bytes, cudaMemcpyDeviceToHost), "copy back");
  return memcmp(scratch, expected, bytes) == 0;
}

static void table1_of(int n)
{
  const size_t count = (size_t)n * n, bytes = count * sizeof(int);
  int *a = (int *)host(bytes), *b = (int *)host(bytes), *c = (int *)host(bytes), *scratch = (int *)host(bytes);
  for (size_t k = 0; k < count; k++) a[k] = (int)(next() % 100) - 50, b[k] = (int)(next() % 100) - 50;

  char how[64];
  double fastest = 0;
  for (const auto &block : serial_blocks) {
    if (n % block.rows || n % block.columns) continue;
    const double ms = timed_on_the_host([&] { serial_product(n, a, b, c, block.rows, block.columns); });
    if (fastest && ms >= fastest) continue;
    fastest = ms;
    snprintf(how, sizeof how, "blocks of %d x %d", block.rows, block.columns);
  }
  serial_line(1, n, "fast", how, fastest);
  memset(c, 0, bytes);
  const auto &plain = table1[0];
  const double begin = seconds();
  serial_figure3(n, a, b, c, plain.B0, plain.ub1, plain.s);
  snprintf(how, sizeof how, "ub1 = %d, B0 = %d, s = %d", plain.ub1, plain.B0, plain.s);
  serial_line(1, n, "as in the figure", how, 1e3 * (seconds() - begin));

  int *A = (int *)device(bytes), *B = (int *)device(bytes), *C = (int *)device(bytes);
  to_device(A, a, bytes);
  to_device(B, b, bytes);
  for (const auto &at : table1) {
    if (n % at.B0 || n % (at.ub1 * at.s)) continue;
    char point[64];
    snprintf(point, sizeof point, "\"ub1\": %d, \"B0\": %d, \"s\": %d", at.ub1, at.B0, at.s);
    const figure3_params params = { at.B0, at.ub1, at.s, 0 };
    cf_choice why = {};
    const auto of_the_paper = [&] { return figure4_launch(n, A, B, C, at.B0, at.ub1, at.s); };
    const auto ours = [&] { return figure3_launch_explained(nullptr, n, A, B, C, &params, nullptr, &why); };
    int status = 0;
    must(cudaMemset(C, 0, bytes), "memory");
    status = of_the_paper();
    bool right = status == 0 && same(C, c, scratch, bytes);
    double ms = status ? 0 : timed(of_the_paper, &status);
    kernel_line(1, n, "figure 4", point, status, -1, ms, right);
    must(cudaMemset(C, 0, bytes), "memory");
    status = ours();
    right = status == 0 && same(C, c, scratch, bytes);
    ms = status ? 0 : timed(ours, &status);
    kernel_line(1, n, "generated", point, status, why.leaf, ms, right);
  }
  cf_choice why = {};
  const auto chosen = [&] { return figure3_launch_explained(nullptr, n, A, B, C, nullptr, nullptr, &why); };
  must(cudaMemset(C, 0, bytes), "memory");
  int status = chosen();
  const bool right = status == 0 && same(C, c, scratch, bytes);
  kernel_line(1, n, "chosen", "\"s\": 0", status, why.leaf, status ? 0 : timed(chosen, &status), right);
  cudaFree(A), cudaFree(B), cudaFree(C);
  free(a), free(b), free(c), free(scratch);
}

static void table2_of(int T, int N)
{
  const size_t count = 2 * (size_t)N, bytes = count * sizeof(int);
  int *first = (int *)host(bytes), *a = (int *)host(bytes), *scratch = (int *)host(bytes);
  for (size_t k = 0; k < count; k++) first[k] = (int)(next() % 1000000);
  memcpy(a, first, bytes);
  const int turns = 200; /* a run takes some microseconds */
  const double ms = timed_on_the_host([&] {
    for (int k = 0; k < turns; k++) serial_jacobi(T, N, a);
  });
  serial_line(2, N, "fast", "plain loops", ms / turns);
  memcpy(a, first, bytes);
  serial_jacobi(T, N, a);

  int *A = (int *)device(bytes);
  for (int k = -1; k < (int)(sizeof table2 / sizeof table2[0]); k++) {
    char point[64] = "\"s\": 0";
    jacobi1d_params params = { 0, 0, 0 };
    if (k >= 0) {
      params.s = table2[k].s;
      params.B = table2[k].B;
      snprintf(point, sizeof point, "\"B\": %d, \"s\": %d", table2[k].B, table2[k].s);
      if ((N - 2) % (params.s * params.B)) continue;
    }
    cf_choice why = {};
    const auto launch = [&] { return jacobi1d_launch_explained(nullptr, T, N, A, k >= 0 ? &params : nullptr, nullptr, &why); };
    to_device(A, first, bytes);
    int status = launch();
    const bool right = status == 0 && same(A, a, scratch, bytes);
    const double took = status ? 0 : timed(launch, &status);
    kernel_line(2, N, k >= 0 ? "generated" : "chosen", point, status, why.leaf, took, right);
  }
  cudaFree(A);
  free(first), free(a), free(scratch);
}

static void table3_of(int N)
{
  const size_t count = (size_t)N * N, bytes = count * sizeof(float);
  float *a = (float *)host(bytes), *c = (float *)host(bytes), *scratch = (float *)host(bytes);
  for (size_t k = 0; k < count; k++) a[k] = (float)next();
  memset(c, 0, bytes);
  serial_line(3, N, "as in the figure", "plain loops", timed_on_the_host([&] { serial_transpose(N, a, c); }));
  char how[64];
  double fastest = 0;
  for (const int side : { 8, 16, 32, 64 }) {
    if (N % side) continue;
    const double ms = timed_on_the_host([&] { serial_transpose_blocked(N, a, c, side, side); });
    if (fastest && ms >= fastest) continue;
    fastest = ms;
    snprintf(how, sizeof how, "blocks of %d x %d", side, side);
  }
  serial_line(3, N, "fast", how, fastest);

  float *A = (float *)device(bytes), *C = (float *)device(bytes);
  to_device(A, a, bytes);
  for (int k = -1; k < (int)(sizeof table3 / sizeof table3[0]); k++) {
    char point[64] = "\"s\": 0";
    transpose_params params = { 0, 0, 0, 0 };
    if (k >= 0) {
      params.B0 = table3[k].B0;
      params.B1 = table3[k].B1;
      params.s = table3[k].s;
      snprintf(point, sizeof point, "\"B0\": %d, \"B1\": %d, \"s\": %d", params.B0, params.B1, params.s);
      if (N % params.B0 || N % (params.s * params.B1)) continue;
    }
    cf_choice why = {};
    const auto launch = [&] { return transpose_launch_explained(nullptr, N, A, C, k >= 0 ? &params : nullptr, nullptr, &why); };
    must(cudaMemset(C, 0, bytes), "memory");
    int status = launch();
    const bool right = status == 0 && same(C, c, scratch, bytes);
    const double took = status ? 0 : timed(launch, &status);
    kernel_line(3, N, k >= 0 ? "generated" : "chosen", point, status, why.leaf, took, right);
  }
  cudaFree(A), cudaFree(C);
  free(a), free(c), free(scratch);
}

int main(int argc, char **argv)
{
  int sizes[4][8] = {}, many[4] = {}, group = 0;
  for (int k = 1; k < argc; k++) {
    if (strcmp(argv[k], "-") == 0) group++;
    if (strcmp(argv[k], "-") == 0 || group > 3 || many[group] == 8) continue;
    sizes[group][many[group]++] = atoi(argv[k]);
  }
  if (group != 3 || many[1] != 2 || many[2] != 1 || many[3] != 1) {
    fprintf(stderr, "usage: tables 1024 2048 - 4 32770 - 16384 - 20\n");
    return 2;
  }
  wanted_ms = sizes[3][0];
  for (int k = 0; k < many[0]; k++) table1_of(sizes[0][k]);
  table2_of(sizes[1][0], sizes[1][1]);
  table3_of(sizes[2][0]);
  return 0;
}
