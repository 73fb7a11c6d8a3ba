/* Runs calibrate.cu on the CPU: g++ -std=c++17 -include cuda_on_cpu.h -include calibrate_on_cpu.h -x c++ calibrate.cu

   What the kernels do passes time on a pretended device, whose speeds are those that stand here: the numbers say nothing of
   any machine, are always the same, and show whether the program finds what is there. It has one multiprocessor, so that
   blocks come one after the other. */
#ifndef CF_CALIBRATE_ON_CPU
#define CF_CALIBRATE_ON_CPU

#include <algorithm>
#include <vector>

struct int4;

namespace {

constexpr int runs = 3;
constexpr double warm_seconds = 0;
constexpr unsigned long long least_bytes = 1;
constexpr int turns_of_a_block = 8;
constexpr long long spin_ns = 1000;

/* The device. */
constexpr int pretended_l2_bytes = 1 << 20, pretended_kept_bytes = 3 << 18;
constexpr double issued_in_a_cycle = 4, wide_in_a_cycle = 64, matrices_in_a_cycle = 128;
constexpr double half_matrices_in_a_cycle = 1024;
constexpr double l2_bytes_in_a_cycle = 24, memory_bytes_in_a_cycle = 8;
constexpr double l2_cycles = 300, memory_cycles = 700, shared_cycles = 30, barrier_cycles = 32;
constexpr double warp_cycles = 40, launch_cycles = 2000;

double clock_now = 0;

/* A cache that drops what was used the longest ago: how much had been used when a line was used last. */
class Lines {
public:
  Lines() : last_(1 << 20) { cf_cpu_set_attribute(cudaDevAttrL2CacheSize, pretended_l2_bytes); }
  bool used(const void *place, int bytes)
  {
    long long &last = last_[reinterpret_cast<uintptr_t>(place) / 128 % last_.size()];
    const bool kept = last != 0 && all_ - last <= pretended_kept_bytes;
    all_ += bytes;
    last = all_;
    return kept;
  }

private:
  std::vector<long long> last_;
  long long all_ = 0;
};

Lines lines_of_the_device;

struct OneMultiprocessor {
  OneMultiprocessor() { cf_cpu_set_attribute(cudaDevAttrMultiProcessorCount, 1); }
} one_multiprocessor;

inline long long now() { return static_cast<long long>(clock_now); }
inline long long nanoseconds() { return static_cast<long long>(++clock_now); } /* at 1000 MHz */

inline unsigned here() { return 0; }
inline void launches() { clock_now += launch_cycles; }

inline unsigned load_word(const unsigned *from)
{
  clock_now += lines_of_the_device.used(from, 4) ? l2_cycles : memory_cycles;
  return *from;
}

/* Memory gives and takes whole lines. */
inline void move_vector(const int4 *place)
{
  clock_now += lines_of_the_device.used(place, 16) ? 16 / l2_bytes_in_a_cycle : 128 / memory_bytes_in_a_cycle;
}

inline int4 load_vector(const int4 *from)
{
  move_vector(from);
  return *from;
}

inline void store_vector(int4 *to, int4 vector)
{
  move_vector(to);
  *to = vector;
}

/* Warps start while others store. */
inline void store_word(unsigned *to, unsigned word)
{
  lines_of_the_device.used(to, 4);
  clock_now += warp_cycles / 32;
  *to = word;
}

inline unsigned place_of(const unsigned *first, const unsigned *word) { return static_cast<unsigned>(word - first); }

inline unsigned load_shared(const unsigned *first, unsigned place)
{
  clock_now += shared_cycles;
  return first[place];
}

inline void meet()
{
  if (threadIdx.x == 0) clock_now += barrier_cycles;
  __syncthreads();
}

inline void multiply_add(float &x, float factor)
{
  clock_now += 1 / (32 * issued_in_a_cycle);
  x += factor * x;
}

inline void multiply_add(double &x, double factor)
{
  clock_now += 1 / wide_in_a_cycle;
  x += factor * x;
}

inline void multiply_matrices(double (&x)[4], double factor)
{
  clock_now += 16 * 8 * 8 / 32 / matrices_in_a_cycle;
  x[0] += factor * x[0];
}

inline void multiply_matrices(float (&x)[4], unsigned factors)
{
  clock_now += 16 * 8 * 16 / 32 / half_matrices_in_a_cycle;
  x[0] += factors;
}

inline void shift(unsigned &x, unsigned by)
{
  clock_now += 1 / (32 * issued_in_a_cycle);
  x = x << by | x >> (32 - by);
}

inline void atomicMin(long long *least, long long value) { *least = std::min(*least, value); }
inline void atomicMax(long long *most, long long value) { *most = std::max(*most, value); }

inline cudaError_t cudaMemGetInfo(size_t *unused, size_t *total)
{
  *unused = *total = 1ULL << 30;
  return cudaSuccess;
}

} // namespace

#endif
