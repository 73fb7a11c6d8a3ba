/* Runs CUDA sources of comprehensive on the CPU: g++ -std=c++17 -x c++ -include cuda_on_cpu.h kernels.cu

   A block's threads are fibers that run in turn from barrier to barrier; blocks run one after the other. What a GPU
   leaves undefined shows: shared memory is exactly as large as asked for, lies on the heap (build with
   -fsanitize=address to catch accesses beyond it) and begins as NaN; a barrier that only a part of a block reaches
   is an error; and threads and blocks run forwards or backwards (cf_cpu_set_order), so that what a missing barrier
   or a race lets happen differs. The limits are those of a fake device, compute capability 9.0 unless set. */
#ifndef CF_CUDA_ON_CPU_H
#define CF_CUDA_ON_CPU_H

/* A fortified longjmp takes the switch to another stack for an attack. */
#ifdef _FORTIFY_SOURCE
#undef _FORTIFY_SOURCE
#endif

/* As with nvcc, the overloads of C++ are visible without std::, so that what would call the wrong one shows here. */
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

/* Only what is small: this file is compiled with every kernel. */
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define CF_CPU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CF_CPU_ASAN 1
#endif
#endif
#ifdef CF_CPU_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

/* Of one library: otherwise inline variables are those of all libraries that a process loads, and with them the device,
   its settings and what runs on it. */
#define CF_CPU_OWN __attribute__((visibility("hidden")))

/* ---- the language */

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__ static
#define __constant__ static
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __align__(n) alignas(n)
#define CF_SHARED(name) unsigned char *const name = cf_cpu::shared_memory()
#define CF_KERNEL(...) reinterpret_cast<const void *>(&cf_cpu::Kernel<__VA_ARGS__>::enter)
#define __syncthreads() cf_cpu::barrier(__LINE__)

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(16) double2 { double x, y; };

template <typename T> constexpr T min(T a, T b) { return b < a ? b : a; }
template <typename T> constexpr T max(T a, T b) { return a < b ? b : a; }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
template <typename T> inline T __ldg(const T *address) { return *address; }

/* Threads take turns only at barriers, so that plain updates are atomic. Integers wrap around, as on a GPU. */
#define CF_CPU_ATOMIC(name, operation, type, computed)                              \
  inline type name(type *address, type value) {                                     \
    type old;                                                                       \
    std::memcpy(&old, address, sizeof old); /* the element may be a long */         \
    const computed sum = static_cast<computed>(old) operation static_cast<computed>(value); \
    std::memcpy(address, &sum, sizeof sum);                                         \
    return old;                                                                     \
  }
CF_CPU_ATOMIC(atomicAdd, +, int, unsigned)
CF_CPU_ATOMIC(atomicAdd, +, unsigned, unsigned)
CF_CPU_ATOMIC(atomicAdd, +, unsigned long long, unsigned long long)
CF_CPU_ATOMIC(atomicAdd, +, float, float)
CF_CPU_ATOMIC(atomicAdd, +, double, double)
CF_CPU_ATOMIC(atomicSub, -, int, unsigned)
CF_CPU_ATOMIC(atomicSub, -, unsigned, unsigned)
CF_CPU_ATOMIC(atomicAnd, &, int, unsigned)
CF_CPU_ATOMIC(atomicAnd, &, unsigned, unsigned)
CF_CPU_ATOMIC(atomicAnd, &, unsigned long long, unsigned long long)
CF_CPU_ATOMIC(atomicOr, |, int, unsigned)
CF_CPU_ATOMIC(atomicOr, |, unsigned, unsigned)
CF_CPU_ATOMIC(atomicOr, |, unsigned long long, unsigned long long)
CF_CPU_ATOMIC(atomicXor, ^, int, unsigned)
CF_CPU_ATOMIC(atomicXor, ^, unsigned, unsigned)
CF_CPU_ATOMIC(atomicXor, ^, unsigned long long, unsigned long long)
#undef CF_CPU_ATOMIC

/* ---- the runtime's types */

struct CUstream_st;
typedef CUstream_st *cudaStream_t;
struct CUevent_st {
  double milliseconds;
};
typedef CUevent_st *cudaEvent_t;
enum { cudaStreamNonBlocking = 1 };

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorNotReady = 600,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidDevice = 101,
  cudaErrorLaunchFailure = 719
};

enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrReservedSharedMemoryPerBlock = 111
};

enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };

struct cudaDeviceProp {
  char name[256];
  int major;
  int minor;
};

struct cudaFuncAttributes {
  size_t sharedSizeBytes;
  size_t constSizeBytes;
  size_t localSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
};

namespace CF_CPU_OWN cf_cpu {

/* ---- the device */

constexpr int attributes = 128;
constexpr int most_kernels = 1024;

/* The dynamic shared memory that a kernel has asked for. */
struct Room {
  const void *kernel;
  size_t bytes;
};

class Lock {
public:
  explicit Lock(std::atomic_flag &flag) : flag_(flag)
  {
    while (flag_.test_and_set(std::memory_order_acquire)) {
    }
  }
  Lock(const Lock &) = delete;
  Lock &operator=(const Lock &) = delete;
  ~Lock() { flag_.clear(std::memory_order_release); }

private:
  std::atomic_flag &flag_;
};

struct Device {
  int value[attributes] = {};
  int kernel_threads = 1024; /* what a kernel's registers leave room for */
  bool backwards = false;
  char error[512] = ""; /* of the last launch that failed */
  Room rooms[most_kernels] = {};
  std::atomic_flag flag = ATOMIC_FLAG_INIT;

  Device()
  {
    value[cudaDevAttrMaxThreadsPerBlock] = 1024;
    value[cudaDevAttrReservedSharedMemoryPerBlock] = 1024;
    value[cudaDevAttrMaxBlockDimX] = 1024;
    value[cudaDevAttrMaxBlockDimY] = 1024;
    value[cudaDevAttrMaxBlockDimZ] = 64;
    value[cudaDevAttrMaxGridDimX] = 2147483647;
    value[cudaDevAttrMaxGridDimY] = 65535;
    value[cudaDevAttrMaxGridDimZ] = 65535;
    value[cudaDevAttrMaxSharedMemoryPerBlock] = 49152;
    value[cudaDevAttrWarpSize] = 32;
    value[cudaDevAttrMaxRegistersPerBlock] = 65536;
    value[cudaDevAttrClockRate] = 1980000;
    value[cudaDevAttrMultiProcessorCount] = 132;
    value[cudaDevAttrMemoryClockRate] = 3201000;
    value[cudaDevAttrGlobalMemoryBusWidth] = 6144;
    value[cudaDevAttrL2CacheSize] = 62914560;
    value[cudaDevAttrMaxThreadsPerMultiProcessor] = 2048;
    value[cudaDevAttrComputeCapabilityMajor] = 9;
    value[cudaDevAttrMaxSharedMemoryPerMultiprocessor] = 233472;
    value[cudaDevAttrMaxRegistersPerMultiprocessor] = 65536;
    value[cudaDevAttrMaxSharedMemoryPerBlockOptin] = 232448;
    value[cudaDevAttrMaxBlocksPerMultiprocessor] = 32;
  }
};

inline Device &device()
{
  static Device one;
  return one;
}

/* Where the wish of a kernel is kept; null where there are too many kernels. */
inline Room *room_of(const void *kernel)
{
  for (Room &room : device().rooms) {
    if (!room.kernel) room.kernel = kernel;
    if (room.kernel == kernel) return &room;
  }
  return nullptr;
}

/* ---- fibers */

#ifdef CF_CPU_ASAN
constexpr size_t stack_bytes = 256 * 1024; /* redzones make frames large */
#else
constexpr size_t stack_bytes = 128 * 1024;
#endif
constexpr size_t guard_bytes = 4096;

/* Switches with swapcontext once and with longjmp from then on, which makes no system call. AddressSanitizer wants to
   be told of every switch, and gets swapcontext. */
class Fiber {
public:
  Fiber() = default;
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;
  ~Fiber() { end(); }

  /* False where there is no memory for a stack. */
  bool begin(void (*entry)())
  {
    if (!allocate()) return false;
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack();
    context_.uc_stack.ss_size = stack_bytes;
    context_.uc_link = nullptr;
    makecontext(&context_, entry, 0);
    begun_ = false;
    return true;
  }
  void end()
  {
    if (stack_) munmap(stack_, guard_bytes + stack_bytes);
    stack_ = nullptr;
  }

  void resume();
  static void started(); /* the first thing on a new stack */
  static void yield();

private:
  char *stack() const { return stack_ + guard_bytes; }
  bool allocate()
  {
    void *memory = mmap(nullptr, guard_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    stack_ = static_cast<char *>(memory);
    if (mprotect(memory, guard_bytes, PROT_NONE) == 0) return true;
    end();
    return false;
  }

  char *stack_ = nullptr;
  ucontext_t context_ = {}; /* all zeros until it begins, so that it takes no memory when a program is loaded */
  bool begun_ = false;
#ifdef CF_CPU_ASAN
  void *fake_ = nullptr;
#else
  jmp_buf place_ = {};
#endif
};

struct Scheduler {
  ucontext_t context;
  Fiber *running = nullptr;
#ifdef CF_CPU_ASAN
  const void *stack = nullptr;
  size_t size = 0;
  void *fake = nullptr;
#else
  jmp_buf place;
#endif
};

inline Scheduler scheduler;

#ifdef CF_CPU_ASAN
inline void Fiber::resume()
{
  scheduler.running = this;
  __sanitizer_start_switch_fiber(&scheduler.fake, stack(), stack_bytes);
  swapcontext(&scheduler.context, &context_);
  __sanitizer_finish_switch_fiber(scheduler.fake, nullptr, nullptr);
}

inline void Fiber::started() { __sanitizer_finish_switch_fiber(nullptr, &scheduler.stack, &scheduler.size); }

inline void Fiber::yield()
{
  Fiber *self = scheduler.running;
  __sanitizer_start_switch_fiber(&self->fake_, scheduler.stack, scheduler.size);
  swapcontext(&self->context_, &scheduler.context);
  __sanitizer_finish_switch_fiber(self->fake_, &scheduler.stack, &scheduler.size);
}
#else
__attribute__((noinline)) inline void Fiber::resume()
{
  scheduler.running = this;
  if (_setjmp(scheduler.place) != 0) return;
  if (begun_) _longjmp(place_, 1);
  begun_ = true;
  setcontext(&context_);
}

inline void Fiber::started() {}

__attribute__((noinline)) inline void Fiber::yield()
{
  if (_setjmp(scheduler.running->place_) == 0) _longjmp(scheduler.place, 1);
}
#endif

/* ---- a block */

enum class State { ready, in_warp, at_barrier, finished };

struct Thread {
  Fiber *fiber = nullptr; /* from its first statement to its last one */
  const void *operands[2] = {}; /* its fragments or addresses, which all threads of its warp look at */
  State state = State::ready;
  int line = 0;
  uint3 index = { 0, 0, 0 };
};

constexpr size_t warp = 32;
constexpr size_t most_threads = 1024; /* of any device */

struct Block {
  Thread threads[most_threads];
  Thread *running = nullptr;
  void (*enter)(void **arguments) = nullptr; /* what is launched */
  void (*kernel)() = nullptr;                /* which kernel that runs, where it does not know */
  void **arguments = nullptr;
  unsigned char *shared = nullptr;
};

inline Block block;

inline unsigned char *shared_memory() { return block.shared; }

inline void barrier(int line)
{
  block.running->state = State::at_barrier;
  block.running->line = line;
  Fiber::yield();
}

/* Waits until all threads of the warp have come to this line. */
inline void meet_warp(int line)
{
  block.running->state = State::in_warp;
  block.running->line = line;
  Fiber::yield();
}

/* What thread `of` of the warp of this one has put up as operand `which`. */
template <typename T> const T *operand_of(size_t of, size_t which)
{
  const size_t number = static_cast<size_t>(block.running - block.threads), first = number - number % warp;
  return static_cast<const T *>(block.threads[first + of].operands[which]);
}

/* Puts up what the warp of this thread looks at, waits for the others' and returns the number of the thread in it. */
inline size_t put_up(const void *left, const void *right, int line)
{
  block.running->operands[0] = left;
  block.running->operands[1] = right;
  meet_warp(line);
  return static_cast<size_t>(block.running - block.threads) % warp;
}

/* mma.m16n8k8 of doubles, for all sums of a warp (PTX ISA, "Matrix Fragments for mma.m16n8k8"): lane (g, q) has of the left
   matrix steps q and q + 4 of rows g of each 8, of the right one the same steps of columns g, and sums of columns 2 * q
   and 2 * q + 1. Rounded as the compiler is told to, one step after the other. */
template <int Rows, int Columns>
void multiply_add(double (&sums)[Rows][Columns], const double (&left)[Rows][2], const double (&right)[Columns / 2][2])
{
  const size_t lane = put_up(left[0], right[0], __LINE__);
  for (int i = 0; i < Rows; i++)
    for (int j = 0; j < Columns; j++)
      for (size_t step = 0; step < 8; step++) {
        const size_t of_row = lane / 4 * 4 + step % 4, of_column = (lane % 4 * 2 + static_cast<size_t>(j % 2)) * 4 + step % 4;
        const double a = operand_of<double>(of_row, 0)[2 * static_cast<size_t>(i) + step / 4];
        const double b = operand_of<double>(of_column, 1)[2 * static_cast<size_t>(j / 2) + step / 4];
        sums[i][j] += a * b;
      }
  meet_warp(__LINE__); /* before fragments change */
}

/* ldmatrix.m8n8.x4 (PTX ISA): lane l says where row l % 8 of matrix l / 8 is; (g, q) gets 32 bits of row g, or two elements
   of 16 bits of column g. */
template <bool Turned, typename T> void load_matrices(unsigned (&found)[4], const T *row)
{
  constexpr size_t count = sizeof(unsigned) / sizeof(T);
  static_assert(count == 2 || (count == 4 && !Turned), "elements have 16 bits, or 8 that nobody turns");
  const size_t lane = put_up(row, row, __LINE__);
  for (size_t matrix = 0; matrix < 4; matrix++) {
    T held[count];
    for (size_t k = 0; k < count; k++) {
      const size_t across = count * (lane % 4) + k, g = lane / 4;
      held[k] = Turned ? operand_of<T>(8 * matrix + across, 0)[g] : operand_of<T>(8 * matrix + g, 0)[across];
    }
    std::memcpy(&found[matrix], held, sizeof held);
  }
  meet_warp(__LINE__); /* before shared memory changes */
}

/* What tensor cores multiply: bytes as integers, elements of 16 bits in single precision. */
inline int factor(signed char value) { return value; }
inline int factor(char value) { return value; }
inline int factor(unsigned char value) { return value; }
template <typename T> float factor(T value) { return cf_as_float(value); }

/* mma.m16n8k16 of elements of 16 bits and mma.m16n8k32 of bytes, for all sums of a warp, from what load_matrices leaves of
   16 rows and 16 columns: exact products, added up one step after the other, where a GPU adds in an order of its own. */
template <typename T, typename Sum, int Rows, int Columns>
void multiply_add(Sum (&sums)[Rows][Columns], const unsigned (&left)[Rows / 2][4], const unsigned (&right)[Columns / 4][4])
{
  constexpr size_t count = sizeof(unsigned) / sizeof(T);
  const size_t lane = put_up(left[0], right[0], __LINE__);
  const auto element = [](const unsigned *held, size_t which) {
    T elements[count];
    std::memcpy(elements, held, sizeof elements);
    return factor(elements[which]);
  };
  for (size_t i = 0; i < Rows; i++)
    for (size_t j = 0; j < Columns; j++)
      for (size_t step = 0; step < 8 * count; step++) {
        const size_t q = step % (4 * count) / count, later = step / (4 * count);
        const size_t of_row = lane / 4 * 4 + q, of_column = (lane % 4 * 2 + j % 2) * 4 + q;
        const Sum a = element(operand_of<unsigned>(of_row, 0) + i / 2 * 4 + i % 2 + later * 2, step % count);
        const Sum b = element(operand_of<unsigned>(of_column, 1) + j / 4 * 4 + j / 2 % 2 * 2 + later, step % count);
        sums[i][j] += a * b;
      }
  meet_warp(__LINE__); /* before fragments change */
}

/* A fiber serves one thread after the other. */
inline void serve()
{
  Fiber::started();
  for (;;) {
    block.enter(block.arguments);
    block.running->state = State::finished;
    Fiber::yield();
  }
}

} // namespace cf_cpu

CF_CPU_OWN inline uint3 threadIdx, blockIdx;
CF_CPU_OWN inline dim3 blockDim, gridDim;

namespace CF_CPU_OWN cf_cpu {

/* Whether all threads of the block have arrived at the same place; says what is wrong where they have not. */
inline bool together(size_t count)
{
  const Thread &first = block.threads[0];
  for (size_t k = 1; k < count; k++) {
    const Thread &other = block.threads[k];
    if (other.state == first.state && (first.state == State::finished || other.line == first.line)) continue;
    const Thread &waiting = first.state == State::at_barrier ? first : other;
    const Thread &missing = first.state == State::at_barrier ? other : first;
    const uint3 &w = waiting.index, &m = missing.index;
    char where[32] = "has finished";
    if (missing.state == State::at_barrier) snprintf(where, sizeof where, "waits at line %d", missing.line);
    snprintf(device().error, sizeof device().error,
             "divergent barrier: thread (%u, %u, %u) of block (%u, %u, %u) waits at line %d, thread (%u, %u, %u) %s", w.x,
             w.y, w.z, blockIdx.x, blockIdx.y, blockIdx.z, waiting.line, m.x, m.y, m.z, where);
    return false;
  }
  return true;
}

/* Threads of a warp that have all come to the same line go on; false where there is no such warp. */
inline bool warps_met(size_t count)
{
  bool some = false;
  for (size_t first = 0; first + warp <= count; first += warp) {
    Thread *const threads = block.threads + first;
    bool met = true;
    for (size_t lane = 0; lane < warp; lane++)
      met = met && threads[lane].state == State::in_warp && threads[lane].line == threads[0].line;
    if (!met) continue;
    for (size_t lane = 0; lane < warp; lane++) threads[lane].state = State::ready;
    some = true;
  }
  return some;
}

/* Whether a thread waits for others of its warp that do not come; says which. */
inline bool waits_for_warp(size_t count)
{
  for (size_t k = 0; k < count; k++) {
    const Thread &thread = block.threads[k];
    if (thread.state != State::in_warp) continue;
    snprintf(device().error, sizeof device().error,
             "divergent warp: thread (%u, %u, %u) of block (%u, %u, %u) waits at line %d for the others of its warp",
             thread.index.x, thread.index.y, thread.index.z, blockIdx.x, blockIdx.y, blockIdx.z, thread.line);
    return true;
  }
  return false;
}

/* As many as threads have begun and not finished: without barriers, one serves a whole block. */
class Fibers {
public:
  /* Null where there is no memory for another stack. */
  Fiber *take()
  {
    if (idle_ != 0) return waiting_[--idle_];
    return begun_ < most_threads && all_[begun_].begin(serve) ? &all_[begun_++] : nullptr;
  }
  void give_back(Fiber *fiber) { waiting_[idle_++] = fiber; }

  /* Ends all but the first ones, which then wait. */
  void keep(size_t count)
  {
    while (begun_ > count) all_[--begun_].end();
    for (idle_ = 0; idle_ < begun_; idle_++) waiting_[idle_] = &all_[idle_];
  }

private:
  Fiber all_[most_threads];
  Fiber *waiting_[most_threads] = {};
  size_t begun_ = 0, idle_ = 0;
};

inline Fibers fibers;

/* What waits for the next launch: a stack and its guard page are two mappings, of which a process with many programs has
   no more than 65530. */
constexpr size_t most_kept = 16;

inline cudaError_t fail(cudaError_t error, const char *message)
{
  snprintf(device().error, sizeof device().error, "%s", message);
  return error;
}

inline cudaError_t run_block(size_t count, bool backwards)
{
  for (size_t k = 0; k < count; k++) block.threads[k].state = State::ready;
  for (;;) {
    do {
      for (size_t k = 0; k < count; k++) {
        Thread &thread = block.threads[backwards ? count - 1 - k : k];
        if (thread.state != State::ready) continue;
        if (!thread.fiber) thread.fiber = fibers.take();
        if (!thread.fiber) return fail(cudaErrorMemoryAllocation, "no memory for the stack of a thread");
        block.running = &thread;
        threadIdx = thread.index;
        thread.fiber->resume();
        if (thread.state != State::finished) continue;
        fibers.give_back(thread.fiber);
        thread.fiber = nullptr;
      }
    } while (warps_met(count));
    if (waits_for_warp(count) || !together(count)) return cudaErrorLaunchFailure;
    if (block.threads[0].state == State::finished) return cudaSuccess;
    for (size_t k = 0; k < count; k++) block.threads[k].state = State::ready;
  }
}

inline cudaError_t run_grid(const dim3 &grid, const dim3 &threads, size_t bytes, bool backwards)
{
  const size_t count = static_cast<size_t>(threads.x) * threads.y * threads.z;
  for (size_t k = 0; k < count; k++) {
    block.threads[k].fiber = nullptr;
    block.threads[k].index = { static_cast<unsigned>(k % threads.x), static_cast<unsigned>(k / threads.x % threads.y),
                               static_cast<unsigned>(k / threads.x / threads.y) };
  }
  gridDim = grid;
  blockDim = threads;
  const unsigned long long blocks = static_cast<unsigned long long>(grid.x) * grid.y * grid.z;
  for (unsigned long long k = 0; k < blocks; k++) {
    const unsigned long long number = backwards ? blocks - 1 - k : k;
    blockIdx = { static_cast<unsigned>(number % grid.x), static_cast<unsigned>(number / grid.x % grid.y),
                 static_cast<unsigned>(number / grid.x / grid.y) };
    block.shared = static_cast<unsigned char *>(malloc(bytes)); /* exactly: one byte further is AddressSanitizer's */
    if (bytes != 0 && !block.shared) return fail(cudaErrorMemoryAllocation, "no memory for the shared memory of a block");
    if (bytes != 0) memset(block.shared, 0xff, bytes); /* NaN as float and double, -1 as int */
    const cudaError_t error = run_block(count, backwards);
    free(block.shared);
    if (error == cudaSuccess) continue;
    fibers.keep(0); /* some stand in the middle of a kernel and serve no more */
    return error;
  }
  fibers.keep(most_kept);
  return cudaSuccess;
}

/* What a kernel is launched by: a function that takes the addresses of its arguments. */
typedef void (*Entry)(void **arguments);

template <typename... Parameters, size_t... At>
inline void apply(void (*kernel)(Parameters...), void **arguments, std::index_sequence<At...>)
{
  static_cast<void>(arguments); /* there may be none */
  kernel(*static_cast<std::remove_const_t<Parameters> *>(arguments[At])...);
}

template <auto kernel> struct Kernel;

template <typename... Parameters, void (*kernel)(Parameters...)> struct Kernel<kernel> {
  static void enter(void **arguments) { apply(kernel, arguments, std::index_sequence_for<Parameters...>()); }
};

template <typename... Parameters> inline void enter_any(void **arguments)
{
  apply(reinterpret_cast<void (*)(Parameters...)>(block.kernel), arguments, std::index_sequence_for<Parameters...>());
}

} // namespace cf_cpu

/* ---- the runtime's functions */

inline const char *cudaGetErrorString(cudaError_t error)
{
  switch (error) {
  case cudaSuccess: return "no error";
  case cudaErrorInvalidValue: return "invalid argument";
  case cudaErrorMemoryAllocation: return "out of memory";
  case cudaErrorInvalidConfiguration: return "invalid configuration argument";
  case cudaErrorInvalidDevice: return "invalid device ordinal";
  case cudaErrorLaunchFailure: return "unspecified launch failure";
  case cudaErrorNotReady: return "device not ready";
  }
  return "unrecognized error code";
}

inline cudaError_t cudaGetDevice(int *number)
{
  *number = 0;
  return cudaSuccess;
}

inline cudaError_t cudaSetDevice(int number) { return number == 0 ? cudaSuccess : cudaErrorInvalidDevice; }

inline cudaError_t cudaGetDeviceCount(int *count)
{
  *count = 1;
  return cudaSuccess;
}

inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int number)
{
  if (number != 0) return cudaErrorInvalidDevice;
  *value = cf_cpu::device().value[attribute];
  return cudaSuccess;
}

inline cudaError_t cudaGetSymbolAddress(void **found, const void *symbol)
{
  *found = const_cast<void *>(symbol);
  return cudaSuccess;
}

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *found, int number)
{
  if (number != 0) return cudaErrorInvalidDevice;
  *found = cudaDeviceProp();
  snprintf(found->name, sizeof found->name, "cpu");
  found->major = cf_cpu::device().value[cudaDevAttrComputeCapabilityMajor];
  found->minor = cf_cpu::device().value[cudaDevAttrComputeCapabilityMinor];
  return cudaSuccess;
}

inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *found, const void *)
{
  *found = cudaFuncAttributes();
  found->maxThreadsPerBlock = cf_cpu::device().kernel_threads;
  return cudaSuccess;
}

inline cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute, int value)
{
  cf_cpu::Device &device = cf_cpu::device();
  const cf_cpu::Lock lock(device.flag);
  if (value < 0 || value > device.value[cudaDevAttrMaxSharedMemoryPerBlockOptin]) return cudaErrorInvalidValue;
  cf_cpu::Room *room = cf_cpu::room_of(kernel);
  if (!room) return cudaErrorMemoryAllocation;
  room->bytes = static_cast<size_t>(value);
  return cudaSuccess;
}

template <typename... Parameters>
inline cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute attribute, int value)
{
  return cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel), attribute, value);
}

namespace CF_CPU_OWN cf_cpu {

/* `key` is what the kernel has asked for its shared memory by. */
inline cudaError_t launch(const void *key, Entry enter, void (*kernel)(), dim3 grid, dim3 threads, void **arguments, size_t bytes)
{
  Device &device = cf_cpu::device();
  const Lock lock(device.flag); /* one launch at a time: blocks and threads are global */
  const int *limit = device.value;
  const unsigned extents[] = { threads.x, threads.y, threads.z, grid.x, grid.y, grid.z };
  for (int k = 0; k < 6; k++)
    if (extents[k] == 0 || extents[k] > static_cast<unsigned>(limit[cudaDevAttrMaxBlockDimX + k]))
      return fail(cudaErrorInvalidConfiguration, "an extent of grid or block is beyond the limits of the device");
  const unsigned long long count = static_cast<unsigned long long>(threads.x) * threads.y * threads.z;
  if (count > static_cast<unsigned long long>(min(limit[cudaDevAttrMaxThreadsPerBlock], device.kernel_threads)))
    return fail(cudaErrorInvalidConfiguration, "more threads in a block than device and kernel allow");
  if (count > most_threads) return fail(cudaErrorInvalidConfiguration, "more than 1024 threads in a block");
  const Room *raised = room_of(key);
  const size_t usual = static_cast<size_t>(limit[cudaDevAttrMaxSharedMemoryPerBlock]);
  if (bytes > max(usual, raised ? raised->bytes : 0)) return fail(cudaErrorInvalidValue, "more dynamic shared memory than the kernel has asked for");
  block.enter = enter;
  block.kernel = kernel;
  block.arguments = arguments;
  return run_grid(grid, threads, bytes, device.backwards);
}

} // namespace cf_cpu

/* A kernel as CF_KERNEL has it, or as a function. */
inline cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 threads, void **arguments, size_t bytes, cudaStream_t)
{
  const cf_cpu::Entry enter = reinterpret_cast<cf_cpu::Entry>(const_cast<void *>(kernel));
  return cf_cpu::launch(kernel, enter, nullptr, grid, threads, arguments, bytes);
}

template <typename... Parameters>
inline cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 threads, void **arguments, size_t bytes,
                                    cudaStream_t)
{
  return cf_cpu::launch(reinterpret_cast<const void *>(kernel), cf_cpu::enter_any<Parameters...>,
                        reinterpret_cast<void (*)()>(kernel), grid, threads, arguments, bytes);
}

inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }

/* There is one stream, and launches are over when they return. */
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
  *stream = nullptr;
  return cudaSuccess;
}

inline cudaError_t cudaEventCreate(cudaEvent_t *event)
{
  *event = new CUevent_st();
  return cudaSuccess;
}

inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr)
{
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  event->milliseconds = static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
  return cudaSuccess;
}

inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }

/* Nothing is captured, and one block runs at a time. */
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone = 0, cudaStreamCaptureStatusActive = 1 };

inline cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *status)
{
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *, int, size_t)
{
  *blocks = 1;
  return cudaSuccess;
}

inline cudaError_t cudaEventDestroy(cudaEvent_t event)
{
  delete event;
  return cudaSuccess;
}

inline cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
  *milliseconds = static_cast<float>(end->milliseconds - begin->milliseconds);
  return cudaSuccess;
}

template <typename T> inline cudaError_t cudaMalloc(T **memory, size_t bytes)
{
  *memory = static_cast<T *>(malloc(bytes));
  return *memory || bytes == 0 ? cudaSuccess : cudaErrorMemoryAllocation;
}

inline cudaError_t cudaFree(void *memory)
{
  free(memory);
  return cudaSuccess;
}

/* Pools: memory begins with bytes that are no number, and is gone as soon as it is given back. */
struct CUmemPoolHandle_st {
};
typedef CUmemPoolHandle_st *cudaMemPool_t;
enum cudaMemAllocationType { cudaMemAllocationTypePinned = 1 };
enum cudaMemLocationType { cudaMemLocationTypeDevice = 1 };
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold = 4 };
struct cudaMemPoolProps {
  cudaMemAllocationType allocType;
  struct {
    cudaMemLocationType type;
    int id;
  } location;
};

inline cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *)
{
  *pool = new CUmemPoolHandle_st();
  return cudaSuccess;
}

inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int)
{
  static CUmemPoolHandle_st usual;
  *pool = &usual;
  return cudaSuccess;
}

inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *) { return cudaSuccess; }

inline cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
  delete pool;
  return cudaSuccess;
}

inline cudaError_t cudaMallocFromPoolAsync(void **memory, size_t bytes, cudaMemPool_t, cudaStream_t)
{
  const cudaError_t error = cudaMalloc(memory, bytes);
  if (*memory) memset(*memory, 0xff, bytes);
  return error;
}

inline cudaError_t cudaFreeAsync(void *memory, cudaStream_t) { return cudaFree(memory); }

inline cudaError_t cudaMemcpy(void *target, const void *source, size_t bytes, cudaMemcpyKind)
{
  if (bytes != 0) memcpy(target, source, bytes);
  return cudaSuccess;
}

inline cudaError_t cudaMemcpyAsync(void *target, const void *source, size_t bytes, cudaMemcpyKind kind, cudaStream_t = nullptr)
{
  return cudaMemcpy(target, source, bytes, kind);
}

inline cudaError_t cudaMemset(void *memory, int value, size_t bytes)
{
  if (bytes != 0) memset(memory, value, bytes);
  return cudaSuccess;
}

/* ---- for tests: settings, and what went wrong */

extern "C" {

/* Backwards: the last thread of a block and the last block run first. */
inline __attribute__((used, visibility("default"))) void cf_cpu_set_order(int backwards)
{
  cf_cpu::device().backwards = backwards != 0;
}

/* A limit of the fake device, by the number of its cudaDeviceAttr; set before the first launch. */
inline __attribute__((used, visibility("default"))) void cf_cpu_set_attribute(int attribute, int value)
{
  if (attribute >= 0 && attribute < cf_cpu::attributes) cf_cpu::device().value[attribute] = value;
}

/* The threads of a block that the registers of every kernel leave room for. */
inline __attribute__((used, visibility("default"))) void cf_cpu_set_kernel_threads(int threads)
{
  cf_cpu::device().kernel_threads = threads;
}

/* Why the last launch failed; empty where none has. */
inline __attribute__((used, visibility("default"))) const char *cf_cpu_error(void)
{
  return cf_cpu::device().error;
}
}

#endif
