/* Times one generated function: `bench adapt LAUNCHES` looks for the best version while it runs, `bench sweep` times all
   versions with blocks of several sizes, `bench split` times one launch whose parts run several versions, beside all
   versions, and `bench once` is that launch alone. `bench together THREADS LAUNCHES` has so many threads for every GPU look
   for the best version at once. One line of JSON for each launch, version or thread. What the function is stands in
   case.h. */
#define _POSIX_C_SOURCE 200112L
#include <cuda_runtime_api.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "case.h"

typedef struct {
  const char *name;
  size_t bytes;
  int below; /* numbers are below this one; 0: floats between 0.5 and 1.5 */
  char *first;
} array;

static array arrays[] = { ARRAYS };
enum { COUNT = sizeof arrays / sizeof arrays[0] };

/* What a thread launches with: its arrays on the device, its stream, and what the launcher says. */
static __thread char *device[COUNT];
static __thread cudaStream_t stream;
static __thread cf_choice why;

static void must(cudaError_t error, const char *what)
{
  if (error == cudaSuccess) return;
  printf("{\"failed\": \"%s: %s\"}\n", what, cudaGetErrorString(error));
  exit(1);
}

static void fill(void)
{
  unsigned state = 12345;
  for (int a = 0; a < COUNT; a++) {
    arrays[a].first = malloc(arrays[a].bytes);
    for (size_t k = 0; k < arrays[a].bytes / 4; k++) {
      state = state * 1664525u + 1013904223u;
      if (arrays[a].below) ((int *)arrays[a].first)[k] = (int)((state >> 8) % (unsigned)arrays[a].below);
      else ((float *)arrays[a].first)[k] = 0.5f + (float)(state >> 8) / 16777216.0f;
    }
  }
}

static void allocate(void)
{
  for (int a = 0; a < COUNT; a++) must(cudaMalloc((void **)&device[a], arrays[a].bytes), "memory");
}

static void reset(void)
{
  for (int a = 0; a < COUNT; a++)
    must(cudaMemcpy(device[a], arrays[a].first, arrays[a].bytes, cudaMemcpyHostToDevice), "copy");
}

#define AT(k) ((void *)device[k])

static int launch(const PARAMS *params) { return LAUNCH(params); }

static float timed(const PARAMS *params, int launches)
{
  cudaEvent_t begin, end;
  float milliseconds = 0;
  must(cudaEventCreate(&begin), "event");
  must(cudaEventCreate(&end), "event");
  must(cudaEventRecord(begin, 0), "event");
  for (int k = 0; k < launches; k++)
    if (launch(params) != 0) {
      printf("{\"failed\": \"status %d: %s\"}\n", why.status, why.constraint);
      exit(1);
    }
  must(cudaEventRecord(end, 0), "event");
  must(cudaEventSynchronize(end), "launch");
  must(cudaEventElapsedTime(&milliseconds, begin, end), "event");
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return milliseconds / (float)launches;
}

static int ascending(const void *a, const void *b)
{
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static float median(const PARAMS *params)
{
  float samples[7];
  const float once = timed(params, 1);
  const int launches = once > 2 ? 1 : (int)(2 / (once + 1e-3f)) + 1;
  for (int k = 0; k < 7; k++) samples[k] = timed(params, launches);
  qsort(samples, 7, sizeof samples[0], ascending);
  return samples[3];
}

/* How far results are from those of the first version: the largest relative difference; 1 where integers differ. */
static char *right[COUNT];

static double farthest(const array *of, const char *now, const char *then)
{
  double most = 0;
  for (size_t k = 0; !of->below && k < of->bytes / 4; k++) {
    const double x = ((const float *)now)[k], y = ((const float *)then)[k], far = fabs(x - y) / (1 + fabs(y));
    if (!(far <= most) && !(x != x && y != y)) most = far;
  }
  return of->below && memcmp(now, then, of->bytes) != 0 ? 1 : most;
}

static double difference(void)
{
  double most = 0;
  for (int a = 0; a < COUNT; a++) {
    char *now = malloc(arrays[a].bytes);
    must(cudaMemcpy(now, device[a], arrays[a].bytes, cudaMemcpyDeviceToHost), "copy");
    if (!right[a]) {
      right[a] = now;
      continue;
    }
    const double far = farthest(&arrays[a], now, right[a]);
    if (!(far <= most)) most = far;
    free(now);
  }
  return most;
}

static void sweep(void)
{
  static const int limits[] = { 0, 512, 256, 128, 64 };
  cf_machine machine;
  must(MACHINE(0, &machine) == 0 ? cudaSuccess : cudaErrorUnknown, "device");
  for (int version = 0; version <= MOST_VERSION; version++) {
    PARAMS seen[5];
    int different = 0;
    for (int k = 0; k < 5; k++) {
      cf_machine limited = machine;
      PARAMS params;
      memset(&params, 0, sizeof params);
      if (limits[k]) limited.threads_per_block = limits[k];
      if (CHOOSE(&limited, &params) != 0) continue;
      SET_VERSION(params, version);
      int known = 0;
      for (int s = 0; s < different; s++) known = known || memcmp(&seen[s], &params, sizeof params) == 0;
      if (known) continue;
      seen[different++] = params;
      reset();
      if (launch(&params) != 0) {
        printf("{\"version\": %d, \"limit\": %d, \"refused\": \"%s\"}\n", version, limits[k], why.constraint);
        continue;
      }
      must(cudaDeviceSynchronize(), "launch");
      const double far = difference();
      const float milliseconds = median(&params);
      printf("{\"version\": %d, \"limit\": %d, \"leaf\": %d, \"ms\": %.6f, \"difference\": %.3g}\n", version, limits[k], why.leaf,
             (double)milliseconds, far);
      fflush(stdout);
    }
  }
}

static double now(void)
{
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static void adapt(int launches)
{
  PARAMS params, plain;
  memset(&params, 0, sizeof params);
  reset();
  if (CHOOSE(0, &params) != 0) {
    printf("{\"failed\": \"no choice: %s\"}\n", why.constraint);
    exit(1);
  }
  plain = params;
  params.ADAPT = 1;
  const double begin = now();
  for (int k = 0; k < launches; k++) {
    const float milliseconds = timed(&params, 1);
    printf("{\"launch\": %d, \"candidate\": %d, \"ms\": %.6f, \"state\": \"%s\"}\n", k, why.candidate, (double)milliseconds, why.adaptation);
  }
  const double adapted = now() - begin;
  double hundred = 0;
  for (int k = 0; k < launches; k++) hundred += (double)timed(&plain, 1);
  const float settled = median(&params), original = median(&plain);
  /* The host's part of a call, many of which wait in the stream. */
  double host[2] = { 1e9, 1e9 };
  for (int round = 0; round < 20; round++)
    for (int k = 0; k < 2; k++) {
      must(cudaDeviceSynchronize(), "launch");
      const double from = now();
      for (int each = 0; each < 50; each++) launch(k ? &params : &plain);
      const double taken = (now() - from) / 50;
      if (taken < host[k]) host[k] = taken;
    }
  must(cudaDeviceSynchronize(), "launch");
  printf("{\"seconds\": %.6f, \"plain_ms\": %.6f, \"settled_ms\": %.6f, \"original_ms\": %.6f, \"candidate\": %d, \"host_us\": [%.3f, %.3f]}\n", adapted,
         hundred, (double)settled, (double)original, why.candidate, 1e6 * host[0], 1e6 * host[1]);
}

/* Bytes that differ from those of the first one that is compared. */
static size_t differing(void)
{
  static char *first[COUNT];
  size_t found = 0;
  must(cudaDeviceSynchronize(), "launch");
  for (int a = 0; a < COUNT; a++) {
    char *found_here = malloc(arrays[a].bytes);
    must(cudaMemcpy(found_here, device[a], arrays[a].bytes, cudaMemcpyDeviceToHost), "copy");
    if (!first[a]) {
      first[a] = found_here;
      continue;
    }
    if (memcmp(found_here, first[a], arrays[a].bytes) != 0)
      for (size_t k = 0; k < arrays[a].bytes; k++) found += found_here[k] != first[a][k];
    free(found_here);
  }
  return found;
}

/* All versions as whole launches, the original first, and then one launch in parts: versions are loaded by then. */
static void split(int with_versions)
{
  PARAMS params, plain;
  memset(&params, 0, sizeof params);
  if (CHOOSE(0, &params) != 0) {
    printf("{\"failed\": \"no choice: %s\"}\n", why.constraint);
    exit(1);
  }
  plain = params;
  params.ADAPT = 2;
  for (int version = 0; version <= (with_versions ? MOST_VERSION : 0); version++) {
    SET_VERSION(plain, version);
    reset();
    if (launch(&plain) != 0) continue;
    const size_t bytes = differing();
    const float milliseconds = with_versions ? median(&plain) : 0;
    printf("{\"version\": %d, \"ms\": %.6f, \"bytes\": %zu}\n", version, (double)milliseconds, bytes);
  }
  SET_VERSION(plain, 0);
  reset();
  must(cudaDeviceSynchronize(), "copy");
  const float once = timed(&params, 1);
  const int candidate = why.candidate;
  const char *const state = why.adaptation;
  const size_t bytes = differing();
  printf("{\"split_ms\": %.6f, \"settled_ms\": %.6f, \"candidate\": %d, \"state\": \"%s\", \"bytes\": %zu}\n", (double)once,
         (double)(with_versions ? median(&params) : 0), candidate, state, bytes);
}

/* One of the threads that look for the best version at once: on a GPU, with arrays and a stream of its own. */
typedef struct {
  int gpu, launches;
  pthread_barrier_t *all;
  char *results[2][COUNT]; /* of a launch as compiled, and of the last adapted one */
  int candidate;
  const char *state;
} worker;

static void fetch(char **results)
{
  must(cudaStreamSynchronize(stream), "launch");
  for (int a = 0; a < COUNT; a++) {
    results[a] = malloc(arrays[a].bytes);
    must(cudaMemcpy(results[a], device[a], arrays[a].bytes, cudaMemcpyDeviceToHost), "copy");
  }
}

static void launched(const PARAMS *params)
{
  if (launch(params) == 0) return;
  printf("{\"failed\": \"status %d: %s\"}\n", why.status, why.constraint);
  exit(1);
}

static void *work(void *given)
{
  worker *const self = given;
  PARAMS params;
  memset(&params, 0, sizeof params);
  must(cudaSetDevice(self->gpu), "device");
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  allocate();
  reset();
  must(cudaDeviceSynchronize(), "copy");
  if (CHOOSE(0, &params) != 0) {
    printf("{\"failed\": \"no choice: %s\"}\n", why.constraint);
    exit(1);
  }
  launched(&params);
  fetch(self->results[0]);
  params.ADAPT = 1;
  pthread_barrier_wait(self->all);
  for (int k = 0; k < self->launches; k++) {
    if (k == self->launches - 1) {
      must(cudaStreamSynchronize(stream), "launch");
      reset();
      must(cudaDeviceSynchronize(), "copy");
    }
    launched(&params);
  }
  fetch(self->results[1]);
  self->candidate = why.candidate;
  self->state = why.adaptation;
  return 0;
}

static void together(int threads, int launches)
{
  enum { MOST = 64 };
  static worker workers[MOST];
  pthread_t started[MOST];
  pthread_barrier_t all;
  int gpus = 0;
  must(cudaGetDeviceCount(&gpus), "devices");
  const int count = gpus * threads;
  if (count > MOST || pthread_barrier_init(&all, 0, (unsigned)count) != 0) {
    printf("{\"failed\": \"%d threads are too many\"}\n", count);
    exit(1);
  }
  for (int k = 0; k < count; k++) {
    workers[k].gpu = k % gpus;
    workers[k].launches = launches;
    workers[k].all = &all;
    if (pthread_create(&started[k], 0, work, &workers[k]) != 0) exit(1);
  }
  for (int k = 0; k < count; k++) pthread_join(started[k], 0);
  for (int k = 0; k < count; k++) {
    double most[2] = { 0, 0 };
    for (int a = 0; a < COUNT; a++)
      for (int r = 0; r < 2; r++) {
        const double far = farthest(&arrays[a], workers[k].results[r][a], workers[0].results[0][a]);
        if (!(far <= most[r])) most[r] = far;
      }
    printf("{\"gpu\": %d, \"candidate\": %d, \"state\": \"%s\", \"original\": %.3g, \"adapted\": %.3g}\n", workers[k].gpu,
           workers[k].candidate, workers[k].state, most[0], most[1]);
  }
}

int main(int count, char **arguments)
{
  if (count < 2) return 2;
  fill();
  if (strcmp(arguments[1], "together") == 0) {
    together(count > 2 ? atoi(arguments[2]) : 2, count > 3 ? atoi(arguments[3]) : 50);
    return 0;
  }
  allocate();
  if (strcmp(arguments[1], "split") == 0 || strcmp(arguments[1], "once") == 0) {
    split(strcmp(arguments[1], "split") == 0);
    return 0;
  }
  if (strcmp(arguments[1], "adapt") == 0) adapt(count > 2 ? atoi(arguments[2]) : 100);
  else sweep();
  return 0;
}
