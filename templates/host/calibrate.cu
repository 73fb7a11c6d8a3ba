// Measures the speeds of a device that the model of times has (comprehensive/machine/speeds.py), and prints what each
// run has found. A program of its own:
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o calibrate calibrate.cu && ./calibrate
//
// Lines are `calibration VERSION`, `device NAME`, `fact NAME INTEGER`, `runs NAME NUMBER ...`, `reread BYTES NUMBER ...`
// and, last, `done`; or `error WORDS` and exit status 1. Times are in cycles of the multiprocessors and read in the
// kernels, so that the clock does not matter. comprehensive/calibration/README.md says what each of them is.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

// ---- what a compiler must not leave out, move or do in another way; calibrate_on_cpu.h has it for no GPU at all
#ifndef CF_CALIBRATE_ON_CPU

constexpr int runs = 9;
constexpr double warm_seconds = 0.5; // until the clock is what it stays
constexpr unsigned long long least_bytes = 256ULL << 20;
constexpr int turns_of_a_block = 64;
constexpr long long spin_ns = 1000000;

__device__ inline long long now()
{
  long long cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}

__device__ inline long long nanoseconds()
{
  long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time)::"memory");
  return time;
}

// The multiprocessor.
__device__ inline unsigned here()
{
  unsigned number;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}

// Past the first-level cache.
__device__ inline unsigned load_word(const unsigned *from)
{
  unsigned word;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(word) : "l"(from) : "memory");
  return word;
}

__device__ inline int4 load_vector(const int4 *from)
{
  int4 v;
  asm volatile("ld.global.cg.v4.s32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
  return v;
}

__device__ inline void store_word(unsigned *to, unsigned word) { *to = word; }
__device__ inline void store_vector(int4 *to, int4 vector) { *to = vector; }

// Where a word of shared memory is, and the word there.
__device__ inline unsigned place_of(const unsigned *, const unsigned *word)
{
  return static_cast<unsigned>(__cvta_generic_to_shared(word));
}

__device__ inline unsigned load_shared(const unsigned *, unsigned place)
{
  unsigned word;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(place) : "memory");
  return word;
}

__device__ inline void meet() { asm volatile("bar.sync 0;" ::: "memory"); }

// An instruction each; of two units, either of which takes one only every other cycle on some devices.
__device__ inline void multiply_add(float &x, float factor)
{
  asm volatile("fma.rn.f32 %0, %0, %1, %0;" : "+f"(x) : "f"(factor));
}

__device__ inline void multiply_add(double &x, double factor)
{
  asm volatile("fma.rn.f64 %0, %0, %1, %0;" : "+d"(x) : "d"(factor));
}

// 16 x 8 sums of a warp, eight steps; before compute capability 8.0 nothing.
__device__ inline void multiply_matrices(double (&x)[4], double factor)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
               : "+d"(x[0]), "+d"(x[1]), "+d"(x[2]), "+d"(x[3])
               : "d"(factor));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#pragma unroll
  for (int i = 0; i < 4; i++)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%2}, {%0, %1};"
                 : "+d"(x[i % 2 * 2]), "+d"(x[i % 2 * 2 + 1])
                 : "d"(factor));
#endif
}

// The same of elements of 16 bits, sixteen steps.
__device__ inline void multiply_matrices(float (&x)[4], unsigned factors)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
               : "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3])
               : "r"(factors));
#endif
}

__device__ inline void shift(unsigned &x, unsigned by)
{
  asm volatile("shf.l.wrap.b32 %0, %0, %0, %1;" : "+r"(x) : "r"(by));
}

inline void launches() {} // on the host, before each launch

#endif

constexpr int version = 2;
constexpr int most_multiprocessors = 4096;
constexpr int block_threads = 256, block_warps = block_threads / 32; // of a usual block
constexpr int line_words = 32;                                        // what a warp loads of memory at once

[[noreturn]] void give_up(const char *what, const char *why)
{
  printf("error %s: %s\n", what, why);
  fflush(stdout);
  exit(1);
}

void demand(cudaError_t error, const char *what)
{
  if (error != cudaSuccess) give_up(what, cudaGetErrorString(error));
}

cudaStream_t stream;

void wait(const char *what)
{
  demand(cudaGetLastError(), what);
  demand(cudaStreamSynchronize(stream), what);
}

template <typename T> struct Same {
  typedef T type;
};

template <typename... P>
void start(void (*kernel)(P...), long long blocks, int threads, size_t shared_bytes, typename Same<P>::type... arguments)
{
  void *list[] = { &arguments... };
  launches();
  demand(cudaLaunchKernel(kernel, dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(threads)), list,
                          shared_bytes, stream),
         "a launch");
}

// Memory of the device that is copied from and to the host.
template <typename T> class Array {
public:
  explicit Array(size_t count) : count_(count) { demand(cudaMalloc(&data_, count * sizeof(T)), "memory for results"); }
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;
  ~Array() { cudaFree(data_); }

  T *data() const { return data_; }
  void fill(T value) const
  {
    const std::vector<T> values(count_, value);
    // In the stream of the kernels, which do not wait for any other one.
    demand(cudaMemcpyAsync(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice, stream),
           "a copy to the device");
    wait("a copy to the device");
  }
  std::vector<T> values() const
  {
    std::vector<T> found(count_);
    demand(cudaMemcpy(found.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "a copy from the device");
    return found;
  }

private:
  size_t count_;
  T *data_ = nullptr;
};

double mean(const std::vector<double> &values)
{
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double median(std::vector<double> values)
{
  if (values.empty()) give_up("a run", "it has found nothing");
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

// ---- spans: from the first beginning to the last end on each multiprocessor, whose clocks differ

constexpr long long never = 0x7fffffffffffffffLL;

struct Span {
  long long *begin, *end;
};

__device__ inline void begins(Span span) { atomicMin(&span.begin[here()], now()); }
__device__ inline void ends(Span span) { atomicMax(&span.end[here()], now()); }

class Spans {
public:
  Spans() : begin_(most_multiprocessors), end_(most_multiprocessors) {}
  Span reset() const
  {
    begin_.fill(never);
    end_.fill(0);
    return { begin_.data(), end_.data() };
  }
  // The mean of the multiprocessors that were at work.
  double cycles() const
  {
    const std::vector<long long> begin = begin_.values(), end = end_.values();
    std::vector<double> spans;
    for (int number = 0; number < most_multiprocessors; number++)
      if (begin[number] != never) spans.push_back(static_cast<double>(end[number] - begin[number]));
    if (spans.empty()) give_up("a run", "no multiprocessor has been at work");
    return mean(spans);
  }

private:
  Array<long long> begin_, end_;
};

// ---- latencies: every load waits for the one before it. Loops have bounds that the compiler does not know, and what they
// compute is stored before the clock is read, so that nothing is moved out of them.

constexpr int chase_warps = 16; // of a multiprocessor, each with one line on its way: some load, but far from a full one

// A cycle through all lines, their number a power of two: a generator of random numbers with full period.
__global__ void link_lines(unsigned lines, unsigned *data)
{
  const unsigned word = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned next = (1664525u * (word / line_words) + 1013904223u) & (lines - 1);
  store_word(&data[word], (next * line_words + word % line_words) * static_cast<unsigned>(sizeof(unsigned)));
}

__global__ void chase_lines(const unsigned *data, unsigned lines, unsigned seed, int steps, unsigned *found,
                            long long *cycles)
{
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned line = (thread / 32 + seed * 0x10001u) * 2654435761u;
  line = (line ^ line >> 15) * 2246822519u;
  unsigned at = (((line ^ line >> 13) & (lines - 1)) * line_words + thread % 32) * static_cast<unsigned>(sizeof(unsigned));
  const char *const first = reinterpret_cast<const char *>(data);
  long long begin = 0;
#pragma unroll 1
  for (int round = 0; round < 2; round++) { // the first one brings in the instructions
    const int last = round == 0 ? 8 : steps;
    begin = now();
#pragma unroll 8
    for (int step = 0; step < last; step++) at = load_word(reinterpret_cast<const unsigned *>(first + at));
    found[thread] = at;
  }
  const long long end = now();
  if (thread % 32 == 0) cycles[thread / 32] = end - begin;
}

__global__ void chase_shared(int steps, unsigned *found, long long *cycles)
{
  __shared__ unsigned words[block_threads];
  unsigned at = place_of(words, &words[threadIdx.x]);
  words[threadIdx.x] = at;
  meet();
  long long begin = 0;
#pragma unroll 1
  for (int round = 0; round < 2; round++) {
    begin = now();
#pragma unroll 16
    for (int step = 0; step < steps; step++) at = load_shared(words, at);
    found[blockIdx.x * blockDim.x + threadIdx.x] = at;
  }
  const long long end = now();
  if (threadIdx.x % 32 == 0) cycles[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = end - begin;
}

__global__ void meet_often(int steps, long long *cycles)
{
  long long begin = 0;
#pragma unroll 1
  for (int round = 0; round < 2; round++) {
    meet();
    begin = now();
#pragma unroll 16
    for (int step = 0; step < steps; step++) meet();
  }
  const long long end = now();
  if (threadIdx.x % 32 == 0) cycles[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = end - begin;
}

// ---- throughputs

constexpr int chains = 4;

__global__ void issue(int steps, float factor, unsigned by, float *found, Span span)
{
  float x[chains];
  unsigned y[chains];
  for (int i = 0; i < chains; i++) {
    x[i] = static_cast<float>(i);
    y[i] = threadIdx.x + i;
  }
  meet();
  if (threadIdx.x % 32 == 0) begins(span);
#pragma unroll 16
  for (int step = 0; step < steps; step++)
#pragma unroll
    for (int i = 0; i < chains; i++) {
      multiply_add(x[i], factor);
      shift(y[i], by);
    }
  for (int i = 1; i < chains; i++) {
    x[0] += x[i];
    y[0] ^= y[i];
  }
  found[blockIdx.x * blockDim.x + threadIdx.x] = x[0] + static_cast<float>(y[0]);
  if (threadIdx.x % 32 == 0) ends(span);
}

__global__ void compute_wide(int steps, double factor, double *found, Span span)
{
  double x[chains];
  for (int i = 0; i < chains; i++) x[i] = i;
  meet();
  if (threadIdx.x % 32 == 0) begins(span);
#pragma unroll 4
  for (int step = 0; step < steps; step++)
#pragma unroll
    for (int i = 0; i < chains; i++) multiply_add(x[i], factor);
  found[blockIdx.x * blockDim.x + threadIdx.x] = x[0] + x[1] + x[2] + x[3];
  if (threadIdx.x % 32 == 0) ends(span);
}

// Products of 16 x 8 sums on tensor cores, one after the other in each of several sums.
template <typename Sum, typename Factor>
__global__ void __launch_bounds__(1024) compute_matrices(int steps, Factor factor, double *found, Span span)
{
  Sum x[chains][4];
  for (int i = 0; i < 4 * chains; i++) x[i / 4][i % 4] = i;
  meet();
  if (threadIdx.x % 32 == 0) begins(span);
#pragma unroll 4
  for (int step = 0; step < steps; step++)
#pragma unroll
    for (int i = 0; i < chains; i++) multiply_matrices(x[i], factor);
  Sum all = 0;
  for (int i = 0; i < 4 * chains; i++) all += x[i / 4][i % 4];
  found[blockIdx.x * blockDim.x + threadIdx.x] = all;
  if (threadIdx.x % 32 == 0) ends(span);
}

constexpr int read_threads = 512, read_vectors = 4; // vectors that a thread has on their way
constexpr int chunk_vectors = read_threads * read_vectors;
constexpr long long chunk_bytes = chunk_vectors * 16LL;

// All chunks, so many times; each time other multiprocessors read them.
__global__ void read_again(const int4 *data, unsigned chunks, unsigned passes, int *found, Span span)
{
  int all = 0;
  if (threadIdx.x % 32 == 0) begins(span);
  for (unsigned turn = blockIdx.x; turn < chunks * passes; turn += gridDim.x) {
    const unsigned chunk = (turn + turn / chunks * 7) % chunks;
    const int4 *const first = data + static_cast<size_t>(chunk) * chunk_vectors + threadIdx.x;
    int4 held[read_vectors];
#pragma unroll
    for (int i = 0; i < read_vectors; i++) held[i] = load_vector(first + i * read_threads);
#pragma unroll
    for (int i = 0; i < read_vectors; i++) all ^= held[i].x ^ held[i].y ^ held[i].z ^ held[i].w;
  }
  found[blockIdx.x * blockDim.x + threadIdx.x] = all;
  if (threadIdx.x % 32 == 0) ends(span);
}

// The same for copies of all chunks to what follows them.
__global__ void copy_again(int4 *data, unsigned chunks, unsigned passes, Span span)
{
  if (threadIdx.x % 32 == 0) begins(span);
  for (unsigned turn = blockIdx.x; turn < chunks * passes; turn += gridDim.x) {
    const unsigned chunk = (turn + turn / chunks * 7) % chunks;
    int4 *const first = data + static_cast<size_t>(chunk) * chunk_vectors + threadIdx.x;
    int4 held[read_vectors];
#pragma unroll
    for (int i = 0; i < read_vectors; i++) held[i] = load_vector(first + i * read_threads);
#pragma unroll
    for (int i = 0; i < read_vectors; i++)
      store_vector(first + static_cast<size_t>(chunks) * chunk_vectors + i * read_threads, held[i]);
  }
  if (threadIdx.x % 32 == 0) ends(span);
}

constexpr int copy_vectors = 4;

__global__ void copy(const int4 *from, int4 *to, Span span)
{
  const size_t first = static_cast<size_t>(blockIdx.x) * blockDim.x * copy_vectors + threadIdx.x;
  int4 held[copy_vectors];
  if (threadIdx.x == 0) begins(span);
#pragma unroll
  for (int i = 0; i < copy_vectors; i++) held[i] = load_vector(from + first + i * blockDim.x);
#pragma unroll
  for (int i = 0; i < copy_vectors; i++) store_vector(to + first + i * blockDim.x, held[i]);
  if (threadIdx.x == 0) ends(span);
}

// ---- starts and ends: a block that computes where its points are and stores a word a thread

__global__ void store_words(unsigned count, unsigned *to, long long *time)
{
  const unsigned point = blockIdx.x * blockDim.x + threadIdx.x;
  if (point == 0) *time = nanoseconds();
  if (point < count) store_word(&to[point], point);
}

struct Turn {
  long long begin, end;
};

// The same, and when each warp began and ended.
__global__ void note_turns(unsigned count, unsigned *to, Turn *turns, unsigned *where)
{
  Turn turn;
  turn.begin = now();
  const unsigned point = blockIdx.x * blockDim.x + threadIdx.x;
  if (point < count) store_word(&to[point], point);
  turn.end = now();
  if (threadIdx.x % 32 == 0) turns[point / 32] = turn;
  if (threadIdx.x == 0) where[blockIdx.x] = here();
}

__global__ void spin(long long time, double *rate)
{
  const long long before = nanoseconds();
  long long first = before, last;
  while (first == before) first = nanoseconds(); // it goes in steps
  const long long begin = now();
  do last = nanoseconds();
  while (last - first < time);
  *rate = static_cast<double>(now() - begin) / static_cast<double>(last - first);
}

// ---- the device, and its measurements

int attribute(cudaDeviceAttr which)
{
  int value = 0;
  demand(cudaDeviceGetAttribute(&value, which, 0), "an attribute of the device");
  return value;
}

unsigned long long power_of_two_up_to(unsigned long long value)
{
  unsigned long long power = 1;
  while (2 * power <= value) power *= 2;
  return power;
}

struct Calibration {
  int multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
  unsigned long long l2_bytes = static_cast<unsigned long long>(attribute(cudaDevAttrL2CacheSize));
  unsigned long long bytes = 0; // of `data`, a power of two that is much more than the second-level cache has
  unsigned *data = nullptr;
  unsigned seed = 0;
  Spans spans;
  Array<unsigned> found{ static_cast<size_t>(multiprocessors) * 2048 };
  Array<double> wide_found{ static_cast<size_t>(multiprocessors) * 1024 };

  Calibration()
  {
    if (l2_bytes < 8 * static_cast<unsigned long long>(chunk_bytes)) give_up("the device", "it has no second-level cache");
    if (multiprocessors > most_multiprocessors) give_up("the device", "it has too many multiprocessors");
    size_t unused = 0, total = 0;
    demand(cudaMemGetInfo(&unused, &total), "how much memory is free");
    const unsigned long long wanted = std::max(2 * power_of_two_up_to(32 * l2_bytes - 1), least_bytes);
    // Offsets have 32 bits.
    bytes = std::min({ wanted, 1ULL << 32, power_of_two_up_to(unused / 4 * 3) });
    if (bytes < 8 * l2_bytes) give_up("memory", "too little of it is free");
    demand(cudaMalloc(&data, bytes), "memory for data");
  }

  template <typename Run> void print(const char *name, Run run)
  {
    printf("runs %s", name);
    run();
    for (int number = 0; number < runs; number++) printf(" %.9g", run());
    printf("\n");
    fflush(stdout);
  }

  void link(unsigned long long linked_bytes)
  {
    const unsigned lines = static_cast<unsigned>(linked_bytes / (4 * line_words));
    start(link_lines, static_cast<long long>(linked_bytes / 4 / block_threads), block_threads, 0, lines, data);
    wait("linking lines");
  }

  double steps_of_warps(const Array<long long> &cycles, int steps)
  {
    std::vector<double> each;
    for (const long long warp : cycles.values()) each.push_back(static_cast<double>(warp) / steps);
    return mean(each);
  }

  // Of a load from the first so many bytes, which are linked.
  double line_latency(unsigned long long linked_bytes)
  {
    constexpr int steps = 64;
    const unsigned lines = static_cast<unsigned>(linked_bytes / (4 * line_words));
    const Array<long long> cycles(static_cast<size_t>(multiprocessors) * chase_warps);
    start(chase_lines, multiprocessors, 32 * chase_warps, 0, data, lines, seed++, steps, found.data(), cycles.data());
    wait("the latency of memory");
    return steps_of_warps(cycles, steps);
  }

  double shared_latency()
  {
    constexpr int steps = 512;
    const Array<long long> cycles(static_cast<size_t>(multiprocessors) * block_warps);
    start(chase_shared, multiprocessors, block_threads, 0, steps, found.data(), cycles.data());
    wait("the latency of shared memory");
    return steps_of_warps(cycles, steps);
  }

  double barrier()
  {
    constexpr int steps = 512;
    const Array<long long> cycles(static_cast<size_t>(multiprocessors) * block_warps);
    start(meet_often, multiprocessors, block_threads, 0, steps, cycles.data());
    wait("barriers");
    return steps_of_warps(cycles, steps);
  }

  double issued()
  {
    constexpr int steps = 1024, threads = 1024;
    start(issue, multiprocessors, threads, 0, steps, 0.0f, 5u, reinterpret_cast<float *>(found.data()), spans.reset());
    wait("instructions");
    return 2.0 * chains * steps * (threads / 32) / spans.cycles();
  }

  double wide()
  {
    constexpr int steps = 256, threads = 1024;
    start(compute_wide, multiprocessors, threads, 0, steps, 0.0, wide_found.data(), spans.reset());
    wait("arithmetic on doubles");
    return 1.0 * chains * steps * threads / spans.cycles();
  }

  // Multiply-adds of a multiprocessor in a cycle, so many steps a product; 1 where there is no unit for them.
  template <typename Sum, typename Factor> double matrix(int steps_of_one)
  {
    constexpr int steps = 256, threads = 1024;
    start(compute_matrices<Sum, Factor>, multiprocessors, threads, 0, steps, Factor(0), wide_found.data(), spans.reset());
    wait("products of matrices");
    const double done = 16.0 * 8 * steps_of_one * chains * steps * (threads / 32), cycles = spans.cycles();
    return attribute(cudaDevAttrComputeCapabilityMajor) >= 8 ? done / cycles : 1;
  }

  // Bytes in a cycle of the device, of data that is read again and again.
  double reread(unsigned chunks)
  {
    const unsigned blocks = 2 * static_cast<unsigned>(multiprocessors);
    const unsigned passes = std::max(2u, (turns_of_a_block * blocks + chunks - 1) / chunks);
    start(read_again, blocks, read_threads, 0, reinterpret_cast<const int4 *>(data), chunks, passes,
          reinterpret_cast<int *>(found.data()), spans.reset());
    wait("reading again");
    return static_cast<double>(chunk_bytes) * chunks * passes / spans.cycles();
  }

  // Bytes read and written in 1000 cycles by a multiprocessor, all in the second-level cache.
  double recopied()
  {
    const unsigned blocks = 2 * static_cast<unsigned>(multiprocessors);
    const unsigned chunks = static_cast<unsigned>(l2_bytes / 8 / static_cast<unsigned long long>(chunk_bytes));
    const unsigned passes = std::max(2u, (turns_of_a_block * blocks + chunks - 1) / chunks);
    start(copy_again, blocks, read_threads, 0, reinterpret_cast<int4 *>(data), chunks, passes, spans.reset());
    wait("copying again");
    return 2000.0 * static_cast<double>(chunk_bytes) * chunks * passes / spans.cycles() / multiprocessors;
  }

  // Of growing amounts, a quarter of a power of two each, from those that are kept to those that are not.
  void print_rereads()
  {
    for (int step = -12; step <= 12; step++) {
      const double wanted = static_cast<double>(l2_bytes) * std::exp2(step / 4.0);
      const unsigned chunks = static_cast<unsigned>(wanted / static_cast<double>(chunk_bytes));
      printf("reread %lld", chunks * chunk_bytes);
      reread(chunks);
      for (int number = 0; number < runs; number++) printf(" %.9g", reread(chunks));
      printf("\n");
      fflush(stdout);
    }
  }

  // Bytes read and written in 1000 cycles.
  double copied()
  {
    const unsigned long long half = bytes / 2;
    int4 *const from = reinterpret_cast<int4 *>(data);
    start(copy, static_cast<long long>(half / 16 / copy_vectors / block_threads), block_threads, 0, from, from + half / 16,
          spans.reset());
    wait("copying");
    return 1000.0 * 2 * static_cast<double>(half) / spans.cycles();
  }

  // Cycles in a nanosecond, which is thousands of megahertz.
  double rate()
  {
    const Array<double> found_rate(1);
    start(spin, 1, 1, 0, spin_ns, found_rate.data());
    wait("the clock");
    return found_rate.values()[0];
  }

  // Cycles from the beginning of a launch to that of the next one, which waits for it.
  double launch(int blocks_of_multiprocessor)
  {
    constexpr int count = 100, skipped = 10;
    const long long blocks = static_cast<long long>(multiprocessors) * blocks_of_multiprocessor;
    const Array<long long> times(count);
    const double before = rate();
    const auto issue_all = [&] {
      for (int number = 0; number < count; number++)
        start(store_words, blocks, block_threads, 0, static_cast<unsigned>(blocks * block_threads), data,
              times.data() + number);
    };
#ifdef CF_CALIBRATE_ON_CPU
    issue_all();
#else
    // In a graph, so that the host issues them only once.
    cudaGraph_t graph;
    cudaGraphExec_t recorded;
    demand(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "recording launches");
    issue_all();
    demand(cudaStreamEndCapture(stream, &graph), "recording launches");
    demand(cudaGraphInstantiateWithFlags(&recorded, graph, 0), "recording launches");
    for (int round = 0; round < 2; round++) demand(cudaGraphLaunch(recorded, stream), "recorded launches");
#endif
    wait("launches");
#ifndef CF_CALIBRATE_ON_CPU
    cudaGraphExecDestroy(recorded);
    cudaGraphDestroy(graph);
#endif
    const std::vector<long long> found_times = times.values();
    const double each = static_cast<double>(found_times[count - 1] - found_times[skipped]) / (count - 1 - skipped);
    return each * (before + rate()) / 2;
  }

  // Many blocks after the other on each multiprocessor, one at a time: what is found of one and of its successor.
  struct Turns {
    double block, turn;
  };

  Turns turns()
  {
    constexpr int blocks_of_multiprocessor = 33;
    const int blocks = multiprocessors * blocks_of_multiprocessor;
    const int room = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    demand(cudaFuncSetAttribute(note_turns, cudaFuncAttributeMaxDynamicSharedMemorySize, room), "shared memory");
    const Array<Turn> noted(static_cast<size_t>(blocks) * block_warps);
    const Array<unsigned> places(static_cast<size_t>(blocks));
    start(note_turns, blocks, block_threads, static_cast<size_t>(room), static_cast<unsigned>(blocks) * block_threads, data,
          noted.data(), places.data());
    wait("turns of blocks");
    const std::vector<Turn> warps = noted.values();
    const std::vector<unsigned> where = places.values();
    std::vector<std::vector<Turn>> of(most_multiprocessors);
    for (int block = 0; block < blocks; block++) {
      Turn whole = warps[static_cast<size_t>(block) * block_warps];
      for (int warp = 1; warp < block_warps; warp++) {
        const Turn &other = warps[static_cast<size_t>(block) * block_warps + warp];
        whole.begin = std::min(whole.begin, other.begin);
        whole.end = std::max(whole.end, other.end);
      }
      of[where[block] % most_multiprocessors].push_back(whole);
    }
    std::vector<double> within, between;
    for (std::vector<Turn> &one : of) {
      std::sort(one.begin(), one.end(), [](const Turn &a, const Turn &b) { return a.begin < b.begin; });
      for (size_t number = 1; number < one.size(); number++) { // the first one brings in the instructions
        within.push_back(static_cast<double>(one[number].end - one[number].begin));
        between.push_back(static_cast<double>(one[number].begin - one[number - 1].end));
      }
    }
    return { median(within), median(between) };
  }

  void warm_up()
  {
    const auto begin = std::chrono::steady_clock::now();
    do copied();
    while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < warm_seconds);
  }
};

void print_facts(const Calibration &calibration)
{
  cudaDeviceProp properties;
  demand(cudaGetDeviceProperties(&properties, 0), "the name of the device");
  size_t unused = 0, total = 0;
  demand(cudaMemGetInfo(&unused, &total), "how much memory there is");
  printf("calibration %d\ndevice %s\n", version, properties.name);
  printf("fact compute_capability %d\n", 10 * properties.major + properties.minor);
  printf("fact multiprocessors %d\n", calibration.multiprocessors);
  printf("fact l2_bytes %llu\n", calibration.l2_bytes);
  printf("fact memory_bytes %llu\n", static_cast<unsigned long long>(total));
  int khz = 0, bits = 0; // not every device tells these
  if (cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, 0) != cudaSuccess) khz = 0;
  if (cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, 0) != cudaSuccess) bits = 0;
  cudaGetLastError();
  printf("fact memory_khz %d\nfact memory_bits %d\n", khz, bits);
  fflush(stdout);
}

} // namespace

int main()
{
  demand(cudaSetDevice(0), "the device");
  demand(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "the device");
  Calibration c;
  print_facts(c);
  c.warm_up();
  c.print("clock_mhz", [&] { return 1000 * c.rate(); });
  c.print("issued", [&] { return c.issued(); });
  c.print("wide", [&] { return c.wide(); });
  c.print("matrix", [&] { return c.matrix<double, double>(8); });
  c.print("half_matrix", [&] { return c.matrix<float, unsigned>(16); });
  c.print("shared_latency", [&] { return c.shared_latency(); });
  c.print("barrier", [&] { return c.barrier(); });
  c.print("block", [&] { return c.turns().block; });
  c.print("turn", [&] { return c.turns().turn; });
  c.print("launch", [&] { return c.launch(1); });
  constexpr int crowd = 64;
  c.print("warp_start", [&] { return (c.launch(crowd) - c.launch(1)) / ((crowd - 1) * block_warps); });
  c.print("dram", [&] { return c.copied(); });
  c.print("l2", [&] { return c.recopied(); });
  c.print_rereads();
  c.link(c.bytes);
  c.print("memory_latency", [&] { return c.line_latency(c.bytes); });
  const unsigned long long kept = power_of_two_up_to(c.l2_bytes / 8);
  c.link(kept);
  c.print("l2_latency", [&] { return c.line_latency(kept); });
  printf("done\n");
  return 0;
}
