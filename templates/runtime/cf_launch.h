// What the launchers of comprehensive share: what a device is and has room for, checks of a launch, and the launch
// itself. C with the extensions of gcc and clang where kernels are embedded, C++ beside the kernels.
//
// <program>.cu and <program>_embedded.c include this file behind cf_runtime.h; it needs the CUDA runtime. It is the
// same for all programs of one version of the tool. Each source defines before
//
//   CF_EMBEDDED         where kernels are in an image, which cf_image_of tells, and not functions of the source
//   CF_DEVICE_NAMES     where names of devices matter: cf_set_measured of the source knows speeds by them
//   CF_ADAPTED_SIZES    the most numbers that the sizes of a function are which looks for its best version, and
//   CF_MOST_CANDIDATES  the most versions that a function looks at; where no function does, neither is there
#ifndef CF_LAUNCH
#define CF_LAUNCH 0

#include "cf_runtime.h"

#if CF_LAUNCH != CF_RUNTIME
#error "cf_launch.h and cf_runtime.h are of different versions of comprehensive: generate both with one version"
#endif

#ifndef CF_CUDA_ON_CPU_H
#include <cuda_runtime_api.h>
#endif
#ifdef __cplusplus
#include <atomic>
#else
#include <stdbool.h>
#endif
#ifdef CF_OBSERVE
#include <stdio.h>
#endif
#if defined(CF_OBSERVE) || defined(CF_ADAPTED_SIZES)
#include <stdlib.h>
#endif
#include <string.h>

#if defined(CF_EMBEDDED) && defined(CF_ADAPTED_SIZES)
#define CF_PARTS // a launch can be divided among versions
#endif

// ---- what the launcher takes from the language
//
// CF_LOCAL: a function of each source, which need not call it. CF_EXCHANGE: whether the value was that of `expected`
// and is the new one now; `expected` is then what it was.

#ifdef __cplusplus
#define CF_UNUSED [[maybe_unused]]
#define CF_THREAD_LOCAL thread_local
#define CF_ATOMIC(type) std::atomic<type>
#define CF_LOAD(place) (place).load(std::memory_order_acquire)
#define CF_STORE(place, value) (place).store(value, std::memory_order_release)
#define CF_EXCHANGE(place, expected, value) (place).compare_exchange_strong(expected, value)
#else
#define CF_UNUSED __attribute__((unused))
#define CF_THREAD_LOCAL __thread
#define CF_ATOMIC(type) type
#define CF_LOAD(place) __atomic_load_n(&(place), __ATOMIC_ACQUIRE)
#define CF_STORE(place, value) __atomic_store_n(&(place), value, __ATOMIC_RELEASE)
#define CF_EXCHANGE(place, expected, value) \
  __atomic_compare_exchange_n(&(place), &(expected), value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
#endif
#define CF_LOCAL CF_UNUSED static inline

// The address of a kernel, by which the runtime launches it; the stand-in for CUDA on a CPU has its own.
#ifndef CF_KERNEL
#define CF_KERNEL(...) (const void *)(__VA_ARGS__)
#endif

#ifdef __cplusplus
namespace {
#endif

// ---- what every launch needs

enum { cf_cached_devices = 64 }; // devices with higher numbers are asked every time

typedef struct cf_device {
  int number;
  cf_machine machine;
  long long blocks[3];  // limits of a grid along x, y, z
  long long threads[3]; // limits of a block along x, y, z
  long long shared_bytes;
#ifdef CF_DEVICE_NAMES
  char name[256];
#endif
} cf_device;

// Memory on the device between regions.
typedef struct cf_memory {
  void *data;
  size_t bytes;
} cf_memory;

// A call of a host function: where it launches and how it fares.
typedef struct cf_call {
  cf_device device;
  const cf_machine *machine; // what selection looks at
  cudaStream_t stream;
  cf_choice *why;
  bool launches;   // else it only decides
  bool has_device; // else it decides for a machine alone
  int status;
  int tile;            // which one: 0 none, a number of one, below 0 the best that fits
  int done;            // sweeps which a launch has done before host code comes to them
  int instance;        // which time tile has run in this loop, below 0 none
  int time_tile;       // the last one that has run, as a number of the last region that was come to
  cf_count cycles;     // that launches are expected to take
  cf_count left_out;   // points that parameters leave out
  cf_memory *memories; // of this call, if it has some
  int version;         // which one of the kernels is asked for
  int version_run;     // which one has run last
  bool counts_warps;
  cf_count warps;               // the most that a multiprocessor has at a time, where they are counted
  cf_count launched;            // a digest of kernels, grids and blocks, where warps are counted
  struct cf_kernel *versions;   // of the kernel at hand
  struct cf_division *division; // of its launch into parts, where it is divided
} cf_call;

typedef struct cf_shape {
  long long grid[3];
  long long block[3];
  long long shared_words;
} cf_shape;

// What is known of a kernel on each device; 0 where it has not been asked for yet. No constructor runs: an object of
// static storage begins as zeros.
typedef struct cf_kernel_state {
  CF_ATOMIC(int) threads[cf_cached_devices];
  CF_ATOMIC(int) shared_bytes[cf_cached_devices];
  CF_ATOMIC(int) raised[cf_cached_devices];
} cf_kernel_state;

#ifdef CF_EMBEDDED
// A kernel of the image.
typedef struct cf_kernel {
  const char *symbol;
  int bytes_of_a_warp; // of dynamic shared memory, beside what its source asks for
  bool has_numbers;    // a launch says which blocks run
  int resident_warps;  // of these so many on a multiprocessor at a time; 0: all that there are
  const void *function;
  cf_kernel_state state;
} cf_kernel;

CF_LOCAL const void *cf_image_of(void); // the compiled kernels, which stand in the source

// The library of all kernels, for all devices; loaded when the first of them is asked for. Threads that come first
// together all load it; one of them keeps it.
CF_LOCAL cudaError_t cf_library_of(cudaLibrary_t *library)
{
  static cudaLibrary_t kept;
  cudaLibrary_t first = 0;
  *library = CF_LOAD(kept);
  if (*library) return cudaSuccess;
  const cudaError_t error = cudaLibraryLoadData(library, cf_image_of(), 0, 0, 0, 0, 0, 0);
  if (error != cudaSuccess || CF_EXCHANGE(kept, first, *library)) return error;
  cudaLibraryUnload(*library);
  *library = first;
  return cudaSuccess;
}

CF_LOCAL cudaError_t cf_function_of(cf_kernel *kernel, const void **function)
{
  cudaLibrary_t library = 0;
  cudaKernel_t found = 0;
  *function = CF_LOAD(kernel->function);
  if (*function) return cudaSuccess;
  cudaError_t error = cf_library_of(&library);
  if (error == cudaSuccess) error = cudaLibraryGetKernel(&found, library, kernel->symbol);
  if (error != cudaSuccess) return error;
  *function = (const void *)found; // which functions of the runtime take in the place of a kernel's address
  CF_STORE(kernel->function, *function);
  return cudaSuccess;
}

// The version of a kernel that is asked for, or the first one where it has none of that number.
CF_LOCAL cf_kernel *cf_version_of(cf_call *call, cf_kernel *versions)
{
  call->version_run = versions[call->version].symbol ? call->version : 0;
  call->versions = versions;
  return &versions[call->version_run];
}

// Blocks of so many threads that stay on a multiprocessor at a time; 0: all that there are.
CF_LOCAL long long cf_resident_blocks(const cf_kernel *kernel, long long threads)
{
  const long long blocks = kernel->resident_warps / ((threads + 31) / 32);
  return kernel->has_numbers && kernel->resident_warps > 0 && blocks == 0 ? 1 : blocks;
}

CF_LOCAL cf_count cf_added_bytes(const cf_kernel *kernel, long long threads)
{
  return (cf_count)kernel->bytes_of_a_warp * (((cf_count)threads + 31) / 32);
}

CF_LOCAL cudaError_t cf_address_of(const void *symbol, void **address)
{
  cudaLibrary_t library = 0;
  size_t bytes = 0;
  const cudaError_t error = cf_library_of(&library);
  return error == cudaSuccess ? cudaLibraryGetGlobal(address, &bytes, library, (const char *)symbol) : error;
}
#else
// A kernel of this file.
typedef struct cf_kernel {
  const void *function;
  cf_kernel_state state;
} cf_kernel;

CF_LOCAL cudaError_t cf_function_of(const cf_kernel *kernel, const void **function)
{
  *function = kernel->function;
  return cudaSuccess;
}

// The bytes of shared memory that a kernel takes beside what its source asks for.
CF_LOCAL cf_count cf_added_bytes(const cf_kernel *kernel, long long threads)
{
  (void)kernel;
  (void)threads;
  return 0;
}

CF_LOCAL cudaError_t cf_address_of(const void *symbol, void **address) { return cudaGetSymbolAddress(address, symbol); }
#endif

// Functions of the library for where names of the program stand, which may be those of these functions.
CF_LOCAL bool cf_is_same(const void *a, const void *b, size_t bytes) { return memcmp(a, b, bytes) == 0; }
CF_LOCAL void cf_copy(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
CF_LOCAL void cf_clear(void *bytes, size_t count) { memset(bytes, 0, count); }

CF_LOCAL bool cf_is_empty(long long extent) { return extent != CF_UNDEFINED && extent <= 0; }

// Whether data begins at a multiple of 16 bytes.
CF_LOCAL bool cf_begins(const void *data) { return (size_t)data % 16 == 0; }

// The lesser of two vector widths: what two kernels may both access together.
CF_LOCAL int cf_lesser(int a, int b) { return a < b ? a : b; }

// Whether a launch has done this sweep; it is then no longer ahead. The region's own time tiles begin at `first`.
CF_LOCAL bool cf_is_done(cf_call *call, long long left, int first)
{
  if (call->instance >= 0) call->time_tile = first + call->instance;
  if (left <= 1) call->instance = -1; // the loop ends
  if (call->done == 0) return false;
  call->done--;
  return true;
}

CF_LOCAL int cf_swept(cf_call *call, int sweeps, int instance, int status)
{
  if (status != CF_OK) return status;
  call->done = sweeps - 1;
  call->instance = instance;
  return CF_OK;
}

CF_LOCAL int cf_cuda_error(cf_choice *why, cudaError_t error)
{
  return cf_report(why, CF_ECUDA, CF_NO_LEAF, cudaGetErrorString(error), error, 0);
}

CF_LOCAL int cf_too_large(cf_call *call, const char *what)
{
  return cf_report(call->why, CF_EOVERFLOW, CF_NO_LEAF, what, 0, 0);
}

CF_LOCAL long long cf_at_least_1(long long value) { return value < 1 ? 1 : value; }

// What a device tells of its memory; what it does not tell stays as it is for its architecture.
CF_LOCAL void cf_measure_memory(int number, cf_machine *machine)
{
  int kilohertz = 0, memory_kilohertz = 0, bits = 0, kept = 0;
  const bool known = cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, number) == cudaSuccess &&
                     cudaDeviceGetAttribute(&memory_kilohertz, cudaDevAttrMemoryClockRate, number) == cudaSuccess &&
                     cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, number) == cudaSuccess;
  // Two transfers a cycle; of what they could bring, copies reach 0.87.
  if (known && kilohertz > 0 && memory_kilohertz > 0 && bits > 0)
    machine->dram_bytes_per_kilocycle = 870LL * 2 * memory_kilohertz / kilohertz * (bits / 8);
  if (cudaDeviceGetAttribute(&kept, cudaDevAttrL2CacheSize, number) == cudaSuccess && kept > 0)
    machine->kept_bytes = kept / 4 * 3LL;
}

#ifdef CF_DEVICE_NAMES
CF_LOCAL void cf_set_measured(cf_machine *machine, const char *name); // stands in the source
#endif

CF_LOCAL cudaError_t cf_read_device(int number, cf_device *device)
{
  struct {
    enum cudaDeviceAttr attribute;
    long long value;
  } asked[] = {
    { cudaDevAttrMaxGridDimX, 0 },
    { cudaDevAttrMaxGridDimY, 0 },
    { cudaDevAttrMaxGridDimZ, 0 },
    { cudaDevAttrMaxBlockDimX, 0 },
    { cudaDevAttrMaxBlockDimY, 0 },
    { cudaDevAttrMaxBlockDimZ, 0 },
    { cudaDevAttrMaxThreadsPerBlock, 0 },
    { cudaDevAttrMaxSharedMemoryPerBlockOptin, 0 },
    { cudaDevAttrMaxRegistersPerMultiprocessor, 0 },
    { cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0 },
    { cudaDevAttrMaxThreadsPerMultiProcessor, 0 },
    { cudaDevAttrWarpSize, 0 },
    { cudaDevAttrMaxBlocksPerMultiprocessor, 0 },
    { cudaDevAttrMultiProcessorCount, 0 },
    { cudaDevAttrComputeCapabilityMajor, 0 },
    { cudaDevAttrComputeCapabilityMinor, 0 },
    { cudaDevAttrReservedSharedMemoryPerBlock, 0 },
  };
  for (size_t k = 0; k < sizeof asked / sizeof asked[0]; k++) {
    int value = 0;
    const cudaError_t error = cudaDeviceGetAttribute(&value, asked[k].attribute, number);
    if (error != cudaSuccess) return error;
    asked[k].value = value;
  }
#ifdef CF_DEVICE_NAMES
  struct cudaDeviceProp properties;
  const cudaError_t unnamed = cudaGetDeviceProperties(&properties, number);
  if (unnamed != cudaSuccess) return unnamed;
  memcpy(device->name, properties.name, sizeof device->name);
#endif
  device->number = number;
  for (int axis = 0; axis < 3; axis++) {
    device->blocks[axis] = asked[axis].value;
    device->threads[axis] = asked[3 + axis].value;
  }
  device->shared_bytes = asked[7].value;
  device->machine.registers_per_thread = 255; // of every device since compute capability 3.5
  device->machine.threads_per_block = asked[6].value;
  device->machine.shared_words_per_block = asked[7].value / 4;
  device->machine.registers_per_multiprocessor = asked[8].value;
  device->machine.shared_words_per_multiprocessor = asked[9].value / 4;
  device->machine.threads_per_multiprocessor = asked[10].value;
  device->machine.warps_per_multiprocessor = asked[10].value / asked[11].value;
  device->machine.blocks_per_multiprocessor = asked[12].value;
  device->machine.registers_per_unit_of_a_warp = 256; // these two of every device since compute capability 7.5
  device->machine.sub_partitions_per_multiprocessor = 4;
  device->machine.shared_words_per_unit = asked[14].value == 7 ? 64 : 32;
  device->machine.shared_words_of_the_system_per_block = asked[16].value / 4;
  cf_set_speeds(&device->machine, (int)(10 * asked[14].value + asked[15].value));
  device->machine.multiprocessors = asked[13].value;
  cf_measure_memory(number, &device->machine);
#ifdef CF_DEVICE_NAMES
  cf_set_measured(&device->machine, properties.name);
#endif
  // Of single precision, and by Little's law.
  const long long lanes = asked[11].value * device->machine.issued_per_cycle * asked[13].value;
  const long long words = cf_at_least_1(device->machine.dram_bytes_per_kilocycle / 4);
  device->machine.operations_per_word = cf_at_least_1(lanes * 1000 / words);
  device->machine.words_in_flight_per_multiprocessor =
      cf_at_least_1(device->machine.global_latency_cycles * words / (1000 * asked[13].value));
  return cudaSuccess;
}

CF_LOCAL cudaError_t cf_find_device(int number, cf_device *device)
{
  enum { unknown, being_written, known };
  static cf_device devices[cf_cached_devices];
  static CF_ATOMIC(int) states[cf_cached_devices];
  const bool cached = number >= 0 && number < cf_cached_devices;
  if (cached && CF_LOAD(states[number]) == known) {
    *device = devices[number];
    return cudaSuccess;
  }
  // Threads that come first together all ask; one of them writes the answer down.
  const cudaError_t error = cf_read_device(number, device);
  if (error != cudaSuccess) return error;
  int state = unknown;
  if (cached && CF_EXCHANGE(states[number], state, being_written)) {
    devices[number] = *device;
    CF_STORE(states[number], known);
  }
  return cudaSuccess;
}

// Without a launch a machine that is given is all that is asked: there need be no device.
CF_LOCAL bool cf_begin(cf_call *call, bool launches, const cf_machine *machine, cudaStream_t stream, cf_choice *why)
{
  int number = 0;
  cudaError_t error = cudaSuccess;
  call->has_device = launches || !machine;
  if (call->has_device) {
    error = cudaGetDevice(&number);
    if (error == cudaSuccess) error = cf_find_device(number, &call->device);
  }
  call->machine = machine ? machine : &call->device.machine;
  call->stream = stream;
  call->why = why;
  call->launches = launches;
  call->tile = 0;
  call->done = 0;
  call->instance = -1;
  call->time_tile = CF_NO_LEAF;
  call->cycles = 0;
  call->left_out = 0;
  call->memories = 0;
  call->version = 0;
  call->version_run = 0;
  call->counts_warps = false;
  call->warps = 0;
  call->launched = 0;
  call->versions = 0;
  call->division = 0;
  call->status = error == cudaSuccess ? cf_report(why, CF_OK, CF_NO_LEAF, "", 0, 0) : cf_cuda_error(why, error);
  return call->status == CF_OK;
}

CF_LOCAL bool cf_continues(cf_call *call, int status)
{
  call->status = status;
  return status == CF_OK;
}

// Where a constant array is on the device at hand; nowhere, where there is none.
CF_LOCAL bool cf_find_table(cf_call *call, const void *symbol, void **address)
{
  const cudaError_t error = call->has_device ? cf_address_of(symbol, address) : cudaSuccess;
  return cf_continues(call, error == cudaSuccess ? CF_OK : cf_cuda_error(call->why, error));
}

// What a kernel or the launcher is passed must fit into its type.
CF_LOCAL bool cf_fits(cf_call *call, long long value, long long stored, const char *what)
{
  return cf_continues(call, value != CF_UNDEFINED && stored == value ? CF_OK : cf_too_large(call, what));
}

CF_LOCAL bool cf_require(cf_call *call, long long condition, const char *text, long long needed, long long available)
{
  return cf_continues(call, cf_check(call->why, condition, text, needed, available));
}

// The limits of a compiled kernel on the device: threads of a block (its registers decide), dynamic shared memory.
CF_LOCAL cudaError_t cf_read_kernel(const cf_device *device, const void *function, cf_kernel_state *state, int *threads,
                                    int *shared_bytes)
{
  struct cudaFuncAttributes attributes;
  const bool cached = device->number < cf_cached_devices;
  *threads = cached ? CF_LOAD(state->threads[device->number]) : 0;
  *shared_bytes = cached ? CF_LOAD(state->shared_bytes[device->number]) : 0;
  if (*threads != 0) return cudaSuccess;
  const cudaError_t error = cudaFuncGetAttributes(&attributes, function);
  if (error != cudaSuccess) return error;
  *threads = attributes.maxThreadsPerBlock;
  *shared_bytes = (int)(device->shared_bytes - (long long)attributes.sharedSizeBytes);
  if (cached) {
    CF_STORE(state->shared_bytes[device->number], *shared_bytes);
    CF_STORE(state->threads[device->number], *threads);
  }
  return cudaSuccess;
}

// Above 48 KiB a kernel must ask for its dynamic shared memory; all that the device has, once. Two threads that ask
// at the same time ask for the same.
CF_LOCAL cudaError_t cf_raise_shared_memory(const cf_device *device, const void *function, cf_kernel_state *state,
                                            int shared_bytes)
{
  const bool cached = device->number < cf_cached_devices;
  if (cached && CF_LOAD(state->raised[device->number])) return cudaSuccess;
  const cudaError_t error = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error == cudaSuccess && cached) CF_STORE(state->raised[device->number], 1);
  return error;
}

// Whether there are blocks and threads, with positions that kernels can compute; the status says what is wrong.
CF_LOCAL bool cf_has_points(const cf_call *call, int leaf, const cf_shape *shape, int *status)
{
  static const char *const fits[3] = { "points along x < 2^31", "points along y < 2^31", "points along z < 2^31" };
  *status = CF_OK;
  for (int axis = 0; axis < 3; axis++)
    if (cf_is_empty(shape->grid[axis]) || cf_is_empty(shape->block[axis])) return false;
  for (int axis = 0; axis < 3; axis++) {
    // Kernels compute positions in int; along y and z they step by the grid, at most 65535 beyond the last one.
    const long long most = axis == 0 ? 0x7fffffffLL : 0x7fffffffLL - 0xffffLL;
    const long long points = cf_mul(shape->grid[axis], shape->block[axis]);
    if (points == CF_UNDEFINED || points > most) {
      *status = cf_report(call->why, CF_EOVERFLOW, leaf, fits[axis], points == CF_UNDEFINED ? 0 : points, most);
      return false;
    }
  }
  return true;
}

// What a launch of a kernel needs beside its arguments.
typedef struct cf_ready {
  const void *function;
  long long threads; // of a block
  size_t bytes;      // of dynamic shared memory
} cf_ready;

// Checks whether a kernel can be launched on the device.
CF_LOCAL int cf_make_ready(const cf_call *call, int leaf, cf_kernel *kernel, const cf_shape *shape, cf_ready *ready)
{
  const cf_device *device = &call->device;
  int kernel_threads = 0, kernel_shared_bytes = 0;
  ready->threads = shape->block[0] * shape->block[1] * shape->block[2];
  cudaError_t error = cf_function_of(kernel, &ready->function);
  if (error == cudaSuccess)
    error = cf_read_kernel(device, ready->function, &kernel->state, &kernel_threads, &kernel_shared_bytes);
  if (error != cudaSuccess) return cf_cuda_error(call->why, error);
  if (ready->threads > kernel_threads)
    return cf_report(call->why, CF_ELIMIT, leaf, "threads of a block of the compiled kernel", ready->threads,
                     kernel_threads);
  const cf_count bytes = cf_plus(cf_times(4, cf_amount(shape->shared_words)), cf_added_bytes(kernel, ready->threads));
  if (bytes > (cf_count)kernel_shared_bytes)
    return cf_report(call->why, CF_ELIMIT, leaf, "bytes of shared memory", cf_shown(bytes), kernel_shared_bytes);
  ready->bytes = (size_t)bytes;
  if (bytes > 48 * 1024 && call->launches)
    error = cf_raise_shared_memory(device, ready->function, &kernel->state, kernel_shared_bytes);
  return error == cudaSuccess ? CF_OK : cf_cuda_error(call->why, error);
}

#ifdef CF_ADAPTED_SIZES
// How many blocks a multiprocessor has at a time; 0 where that is not known.
CF_LOCAL long long cf_blocks_at_a_time(const cf_kernel *kernel, const cf_ready *ready)
{
  int blocks = 0;
  (void)kernel;
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, ready->function, (int)ready->threads, ready->bytes) !=
      cudaSuccess)
    return 0;
#ifdef CF_EMBEDDED
  const long long resident = cf_resident_blocks(kernel, ready->threads);
  if (resident > 0 && resident < blocks) return resident;
#endif
  return blocks;
}

CF_LOCAL cf_count cf_warps_of(long long blocks, const cf_ready *ready)
{
  return (cf_count)blocks * (((cf_count)ready->threads + 31) / 32);
}

CF_LOCAL void cf_digest(cf_call *call, const cf_kernel *kernel, const cf_shape *shape)
{
  const cf_count prime = 1099511628211u; // FNV-1a of numbers instead of bytes
  call->launched = (call->launched ^ (cf_count)(size_t)kernel) * prime;
  for (int axis = 0; axis < 3; axis++) {
    call->launched = (call->launched ^ (cf_count)shape->grid[axis]) * prime;
    call->launched = (call->launched ^ (cf_count)shape->block[axis]) * prime;
  }
}
#endif

#ifdef CF_EMBEDDED
// Launches those blocks of a kernel whose blocks are numbers, x running fastest: from the first one to the end.
CF_LOCAL int cf_launch_range(const cf_call *call, const cf_kernel *kernel, const cf_ready *ready, const cf_shape *shape,
                             void **arguments, long long from, long long to)
{
  unsigned first = (unsigned)from, end = (unsigned)to;
  unsigned extents[3] = { (unsigned)shape->grid[0], (unsigned)shape->grid[1], (unsigned)shape->grid[2] };
  int count = 0;
  while (arguments[count]) count++;
  arguments[count] = &first; // behind the arguments that it has else
  arguments[count + 1] = &end;
  for (int axis = 0; axis < 3; axis++) arguments[count + 2 + axis] = &extents[axis];
  const long long held = cf_mul(cf_resident_blocks(kernel, ready->threads), call->device.machine.multiprocessors);
  const dim3 grid = { (unsigned)(held > 0 && held < to - from ? held : to - from), 1, 1 };
  const dim3 block = { (unsigned)shape->block[0], (unsigned)shape->block[1], (unsigned)shape->block[2] };
  const cudaError_t error = cudaLaunchKernel(ready->function, grid, block, arguments, ready->bytes, call->stream);
  arguments[count] = 0;
  return error == cudaSuccess ? CF_OK : cf_cuda_error(call->why, error);
}

CF_LOCAL int cf_launch_numbered(const cf_call *call, int leaf, const cf_kernel *kernel, const cf_ready *ready,
                                const cf_shape *shape, void **arguments)
{
  const long long most = 0x7fffffffLL, blocks = cf_mul(cf_mul(shape->grid[0], shape->grid[1]), shape->grid[2]);
  if (blocks == CF_UNDEFINED || blocks > most)
    return cf_report(call->why, CF_EOVERFLOW, leaf, "blocks < 2^31", blocks == CF_UNDEFINED ? 0 : blocks, most);
  return cf_launch_range(call, kernel, ready, shape, arguments, 0, blocks);
}
#endif

#ifdef CF_PARTS
CF_LOCAL void cf_plan_parts(const cf_call *call, int leaf, const cf_shape *shape);
CF_LOCAL bool cf_has_parts(const cf_call *call, const cf_shape *shape);
CF_LOCAL int cf_launch_parts(cf_call *call, int leaf, void **arguments);
#endif

// Checks a launch against everything that could make it fail or compute wrongly, then launches; where it only decides
// no further than a machine without a device allows.
CF_LOCAL int cf_launch(cf_call *call, int leaf, cf_kernel *kernel, const cf_shape *shape, void **arguments)
{
  static const char *const threads_fit[3] = { "threads along x", "threads along y", "threads along z" };
  const cf_device *device = &call->device;
  cf_ready ready;
  int status = CF_OK;
  if (!cf_has_points(call, leaf, shape, &status)) return status;
  if (shape->shared_words == CF_UNDEFINED) return cf_too_large(call, "words of shared memory");
  if (!call->has_device) return CF_OK;
  for (int axis = 0; axis < 3; axis++) {
    if (shape->block[axis] > device->threads[axis])
      return cf_report(call->why, CF_ELIMIT, leaf, threads_fit[axis], shape->block[axis], device->threads[axis]);
  }
  if (shape->grid[0] > device->blocks[0])
    return cf_report(call->why, CF_ELIMIT, leaf, "blocks along x", shape->grid[0], device->blocks[0]);
  const long long threads = shape->block[0] * shape->block[1] * shape->block[2];
  if (threads > device->machine.threads_per_block)
    return cf_report(call->why, CF_ELIMIT, leaf, "threads of a block", threads, device->machine.threads_per_block);
  status = cf_make_ready(call, leaf, kernel, shape, &ready);
  if (status != CF_OK) return status;
#ifdef CF_ADAPTED_SIZES
  if (call->counts_warps) {
    const cf_count warps = cf_warps_of(cf_blocks_at_a_time(kernel, &ready), &ready);
    if (warps > call->warps) call->warps = warps;
    cf_digest(call, kernel, shape);
  }
#endif
#ifdef CF_PARTS
  if (call->division && !call->launches) cf_plan_parts(call, leaf, shape);
#endif
  if (!call->launches) return CF_OK;
#ifdef CF_PARTS
  if (call->division && cf_has_parts(call, shape)) return cf_launch_parts(call, leaf, arguments);
#endif
#ifdef CF_EMBEDDED
  if (kernel->has_numbers) return cf_launch_numbered(call, leaf, kernel, &ready, shape, arguments);
#endif
  // Along y and z the kernels stride by the grid, so any number of blocks is right.
  const dim3 grid = { (unsigned)shape->grid[0],
                      (unsigned)(shape->grid[1] < device->blocks[1] ? shape->grid[1] : device->blocks[1]),
                      (unsigned)(shape->grid[2] < device->blocks[2] ? shape->grid[2] : device->blocks[2]) };
  const dim3 block = { (unsigned)shape->block[0], (unsigned)shape->block[1], (unsigned)shape->block[2] };
  const cudaError_t error = cudaLaunchKernel(ready.function, grid, block, arguments, ready.bytes, call->stream);
  return error == cudaSuccess ? CF_OK : cf_cuda_error(call->why, error);
}

#ifdef CF_OBSERVE
static int (*const cf_print)(char *, size_t, const char *, ...) = snprintf; // whatever the program calls so

// What a call of a launcher took, as a line of the file that the environment variable CF_OBSERVE names; the call then
// waits for the device. `comprehensive tune --import` reads such files.
typedef struct cf_observation {
  cudaStream_t stream;
  const char *path; // nowhere: nothing is observed
  cudaEvent_t begin, end;
} cf_observation;

CF_LOCAL void cf_observe(cf_observation *observed, bool launches, cudaStream_t stream)
{
  observed->stream = stream;
  observed->path = launches ? getenv("CF_OBSERVE") : 0;
  observed->begin = 0;
  observed->end = 0;
  if (observed->path &&
      (cudaEventCreate(&observed->begin) != cudaSuccess || cudaEventCreate(&observed->end) != cudaSuccess ||
       cudaEventRecord(observed->begin, stream) != cudaSuccess))
    observed->path = 0;
}

CF_LOCAL void cf_write_observed(const cf_observation *observed, int device, const char *function, const char *sizes,
                                const char *parameters, int leaf, const char *version)
{
  float milliseconds = 0;
  struct cudaDeviceProp properties;
  if (!observed->path || cudaEventRecord(observed->end, observed->stream) != cudaSuccess ||
      cudaEventSynchronize(observed->end) != cudaSuccess ||
      cudaEventElapsedTime(&milliseconds, observed->begin, observed->end) != cudaSuccess ||
      cudaGetDeviceProperties(&properties, device) != cudaSuccess)
    return;
  FILE *log = fopen(observed->path, "a");
  if (!log) return;
  fprintf(log, "%s; %s; %s; %s; %d; %.3f%s%s\n", function, properties.name, sizes, parameters, leaf,
          1000.0 * milliseconds, *version ? "; " : "", version);
  fclose(log);
}

CF_LOCAL void cf_end_observation(const cf_observation *observed)
{
  if (observed->begin) cudaEventDestroy(observed->begin);
  if (observed->end) cudaEventDestroy(observed->end);
}
#endif

// ---- memory between regions

// The pool of a device for memory between regions; what a call gives back stays for the next one.
CF_LOCAL cudaError_t cf_pool(int device, cudaMemPool_t *pool)
{
  static CF_ATOMIC(cudaMemPool_t) pools[cf_cached_devices];
  struct cudaMemPoolProps properties;
  unsigned long long kept = 1ULL << 26;
  cudaMemPool_t first = 0;
  if (device >= cf_cached_devices) return cudaDeviceGetDefaultMemPool(pool, device);
  *pool = CF_LOAD(pools[device]);
  if (*pool) return cudaSuccess;
  memset(&properties, 0, sizeof properties);
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  cudaError_t error = cudaMemPoolCreate(pool, &properties);
  if (error != cudaSuccess) return error;
  error = cudaMemPoolSetAttribute(*pool, cudaMemPoolAttrReleaseThreshold, &kept);
  if (error == cudaSuccess && CF_EXCHANGE(pools[device], first, *pool)) return cudaSuccess;
  cudaMemPoolDestroy(*pool);
  *pool = first; // of another thread
  return error;
}

// Memory on the device for the regions of one call, in the order of its stream. Host code that comes here again gets
// the same, if it is large enough.
CF_LOCAL void *cf_take_memory(cf_call *call, int number, long long elements, size_t element_bytes)
{
  const long long bytes = cf_mul(elements, (long long)element_bytes);
  cf_memory *memory = &call->memories[number];
  cudaMemPool_t pool = 0;
  if (!call->launches || !cf_fits(call, bytes, bytes, "elements of memory between regions")) return 0;
  if (memory->data && memory->bytes >= (size_t)bytes) return memory->data;
  cudaError_t error = memory->data ? cudaFreeAsync(memory->data, call->stream) : cudaSuccess;
  memory->data = 0;
  if (error == cudaSuccess) error = cf_pool(call->device.number, &pool);
  if (error == cudaSuccess) error = cudaMallocFromPoolAsync(&memory->data, (size_t)bytes, pool, call->stream);
  if (error != cudaSuccess) {
    call->status = cf_cuda_error(call->why, error);
    memory->data = 0;
  }
  memory->bytes = (size_t)bytes;
  return memory->data;
}

CF_LOCAL void cf_release_memories(cf_call *call, int count)
{
  for (int number = 0; number < count; number++) {
    void *data = call->memories[number].data;
    const cudaError_t error = data ? cudaFreeAsync(data, call->stream) : cudaSuccess;
    if (error != cudaSuccess && call->status == CF_OK) call->status = cf_cuda_error(call->why, error);
  }
}

#ifdef CF_ADAPTED_SIZES
// ---- the best of several versions, found while they run (Hayes et al., Orion, 2016, section 3.4)

enum {
  cf_most_candidates = CF_MOST_CANDIDATES,
  // And one more of the original, so that at most three launches have not the best one's time.
  cf_most_trials = 3,
  cf_size_classes = 32, // of a function that are remembered; launches at others run the first candidate
  cf_adapted_sizes = CF_ADAPTED_SIZES
};
static const float cf_shortest = 0.01f; // milliseconds: events count in half microseconds
static const float cf_cold = 2.0f;      // milliseconds: what runs shorter, and is nearly as fast as what is kept,
static const float cf_gain = 1.08f;     // is tried again when caches and clocks are warm
static const float cf_near = 1.02f;     // candidates whose times differ by less are as fast as each other

// What is known of the candidates at sizes of one class on one device. A class is the sizes with as many binary digits
// each.
typedef struct cf_search {
  bool used, settled, is_under_way, is_recorded;
  int device;
  long long sizes[cf_adapted_sizes]; // those at which is searched: times at others do not compare
  int best;                          // of what was tried, or what has won
  int candidate;                     // under way
  int trials;
  int times[cf_most_candidates];          // how often each was tried; below 0: it does not run here
  float milliseconds[cf_most_candidates]; // the least of them
  cf_count warps[cf_most_candidates];     // on a multiprocessor at a time
  cf_count launched[cf_most_candidates];  // a digest of what was launched
  cudaEvent_t begin, end;
  const char *state;
  const char *undivided; // why a call that asks for parts of one launch has none; 0 where none has asked
} cf_search;

typedef struct cf_adaptation {
  CF_ATOMIC(int) lock;
  cf_search searches[cf_size_classes];
} cf_adaptation;

// What a call runs: a candidate, and whether it is timed.
typedef struct cf_trial {
  cf_adaptation *adaptation;
  cf_search *search;
  int candidate;
  bool is_timed;
  const char *state;
} cf_trial;

CF_LOCAL void cf_lock(cf_adaptation *adaptation)
{
  for (int open = 0; !CF_EXCHANGE(adaptation->lock, open, 1); open = 0) {
    // for less than a microsecond
  }
}

CF_LOCAL void cf_unlock(cf_adaptation *adaptation) { CF_STORE(adaptation->lock, 0); }

CF_LOCAL int cf_digits(long long size)
{
  int digits = 0;
  for (unsigned long long left = size < 0 ? 0 : (unsigned long long)size; left; left >>= 1) digits++;
  return digits;
}

// The search of these sizes on this device; a new one where there is room, else none.
CF_LOCAL cf_search *cf_search_of(cf_adaptation *adaptation, int device, const long long *sizes)
{
  cf_search *search = adaptation->searches;
  cf_search *const end = search + cf_size_classes;
  for (; search < end && search->used; search++) {
    bool same = search->device == device;
    for (int k = 0; k < cf_adapted_sizes; k++) same = same && cf_digits(search->sizes[k]) == cf_digits(sizes[k]);
    if (same) return search;
  }
  if (search == end) return 0;
  search->used = true;
  search->device = device;
  search->state = "looking for the best version";
  memcpy(search->sizes, sizes, sizeof search->sizes);
  return search;
}

// Which one is tried next; below 0: none. The original again where its first launch may have been slow for other
// reasons, and one that was faster gains little; else along the direction until one is slower, then the other direction
// where none was better.
CF_LOCAL int cf_next_candidate(const cf_search *search, int candidates, int along)
{
  int next = -1;
  if (search->times[0] == 0) return 0;
  const float first = search->milliseconds[0];
  if (search->times[0] == 1 && search->best != 0 && first < cf_cold &&
      first < cf_gain * search->milliseconds[search->best])
    return 0;
  const bool tries = search->trials < cf_most_trials;
  for (int k = 1; k <= along && next < 0 && tries; k++) {
    if (search->times[k] == 0) next = k;
    if (search->times[k] > 0 && search->best != k &&
        search->milliseconds[k] > cf_near * search->milliseconds[search->best])
      break;
  }
  for (int k = along + 1; k < candidates && next < 0 && tries && search->best == 0; k++)
    if (search->times[k] == 0) next = k;
  return next;
}

// Of those that are as fast as the best one the one that leaves most of a multiprocessor to others.
CF_LOCAL void cf_settle(cf_search *search, int candidates, const char *state)
{
  const float most = cf_near * search->milliseconds[search->best];
  int kept = search->best;
  for (int k = 0; k < candidates; k++)
    if (search->times[k] > 0 && search->milliseconds[k] <= most && search->warps[k] < search->warps[kept]) kept = k;
  search->best = kept;
  search->settled = true;
  search->state = state;
  cudaEventDestroy(search->begin);
  cudaEventDestroy(search->end);
}

// Takes in the time of the trial under way, if it is over: no launch waits for it.
CF_LOCAL void cf_take_time(cf_search *search, int candidates, int along)
{
  float milliseconds = 0;
  cudaError_t error = cudaEventQuery(search->end);
  if (error == cudaErrorNotReady) return;
  if (error == cudaSuccess) error = cudaEventElapsedTime(&milliseconds, search->begin, search->end);
  const int tried = search->candidate;
  search->is_under_way = false;
  search->is_recorded = false;
  if (error != cudaSuccess) {
    search->best = 0;
    cf_settle(search, 0, "launches cannot be timed");
    return;
  }
  if (search->times[tried] == 0 || milliseconds < search->milliseconds[tried])
    search->milliseconds[tried] = milliseconds;
  search->times[tried]++;
  search->trials++;
  for (int k = 0; k < candidates; k++)
    if (search->times[k] > 0 && search->milliseconds[k] < search->milliseconds[search->best]) search->best = k;
  if (search->milliseconds[0] < cf_shortest) {
    search->best = 0;
    cf_settle(search, 0, "too short to be timed");
  } else if (cf_next_candidate(search, candidates, along) < 0)
    cf_settle(search, candidates, "settled");
}

// What the environment asks for where a call has no parameters: 0 nothing, 1 whole launches, 2 parts of one.
CF_LOCAL int cf_adapts_unasked(void)
{
  static CF_ATOMIC(int) asked; // one more than that; 0 where it is not known
  int found = CF_LOAD(asked);
  if (found == 0) {
    const char *text = getenv("CF_ADAPT");
    found = text && strcmp(text, "1") == 0 ? 2 : text && strcmp(text, "2") == 0 ? 3 : 1;
    CF_STORE(asked, found);
  }
  return found - 1;
}

// What a call runs. Candidate 0 is the original; up to `along` they are in the direction of the search.
CF_LOCAL void cf_begin_trial(cf_trial *trial, cf_adaptation *adaptation, const cf_call *call, const long long *sizes,
                             int candidates, int along)
{
  enum cudaStreamCaptureStatus captured = cudaStreamCaptureStatusNone;
  trial->adaptation = adaptation;
  trial->candidate = 0;
  trial->is_timed = false;
  const bool is_captured =
      cudaStreamIsCapturing(call->stream, &captured) != cudaSuccess || captured != cudaStreamCaptureStatusNone;
  cf_lock(adaptation);
  cf_search *search = cf_search_of(adaptation, call->device.number, sizes);
  trial->search = search;
  if (!search)
    trial->state = "sizes of too many classes: the original runs";
  else {
    if (!is_captured && !search->settled && search->is_recorded) cf_take_time(search, candidates, along);
    trial->candidate = search->best;
    trial->state = search->state;
    if (is_captured && !search->settled)
      trial->state = "not looked for while a graph is captured";
    else if (!search->settled && !search->is_under_way && memcmp(search->sizes, sizes, sizeof search->sizes) != 0)
      trial->state = "looked for at other sizes of this class";
    else if (!search->settled && !search->is_under_way) {
      trial->candidate = search->candidate = cf_next_candidate(search, candidates, along);
      trial->is_timed = search->is_under_way = true;
      if (!search->begin &&
          (cudaEventCreate(&search->begin) != cudaSuccess || cudaEventCreate(&search->end) != cudaSuccess)) {
        trial->candidate = search->best = 0;
        trial->is_timed = false;
        search->settled = true;
        trial->state = search->state = "launches cannot be timed";
      }
    }
  }
  cf_unlock(adaptation);
}

// Whether a candidate launches what another one has launched before: then its time is known.
CF_LOCAL bool cf_repeats(const cf_trial *trial, cf_count launched, int candidates)
{
  const cf_search *search = trial->search;
  bool found = false;
  for (int k = 0; k < candidates; k++)
    found = found || (k != trial->candidate && search->times[k] > 0 && search->launched[k] == launched);
  return found;
}

// The next candidate runs in the place of one that does not run here, or that repeats another one; the best one where
// all were tried.
CF_LOCAL void cf_refuse_candidate(cf_trial *trial, int candidates, int along, bool repeats)
{
  cf_search *search = trial->search;
  cf_lock(trial->adaptation);
  search->times[trial->candidate] = -1;
  const int next = cf_next_candidate(search, candidates, along);
  if (!repeats) search->state = "looking for the best version; one does not run here";
  if (next < 0) cf_settle(search, candidates, repeats ? "settled" : "settled; a version does not run here");
  trial->is_timed = search->is_under_way = next >= 0;
  trial->candidate = search->candidate = next < 0 ? search->best : next;
  trial->state = search->state;
  cf_unlock(trial->adaptation);
}

// Whether a call that asks for parts of its launch can have them: at sizes at which nothing was tried yet, and where no
// reason is given against it. Else it is tried as others are, and its choice tells the reason.
CF_LOCAL bool cf_may_divide(cf_trial *trial, const char *against)
{
  cf_search *search = trial->search;
  if (!trial->is_timed) return false;
  cf_lock(trial->adaptation);
  if (!search->undivided) search->undivided = search->trials > 0 ? "not divided: whole launches are compared" : against;
  if (search->undivided) trial->state = search->undivided;
  const bool may = !search->undivided;
  cf_unlock(trial->adaptation);
  return may;
}

CF_LOCAL void cf_start_trial(const cf_trial *trial, cudaStream_t stream)
{
  if (trial->is_timed) cudaEventRecord(trial->search->begin, stream);
}

// The end of a timed call; without a launch there is nothing to learn from.
CF_LOCAL void cf_end_trial(const cf_trial *trial, const cf_call *call)
{
  if (call->why) {
    call->why->candidate = trial->candidate;
    call->why->adaptation = trial->state;
  }
  if (!trial->is_timed) return;
  cf_search *search = trial->search;
  const bool is_recorded = call->status == CF_OK && cudaEventRecord(search->end, call->stream) == cudaSuccess;
  cf_lock(trial->adaptation);
  search->warps[trial->candidate] = call->warps;
  search->launched[trial->candidate] = call->launched;
  search->is_recorded = is_recorded;
  search->is_under_way = is_recorded;
  cf_unlock(trial->adaptation);
}
#endif

#ifdef CF_PARTS
// ---- one launch in parts that run several versions (Hayes et al., Orion, 2016, section 3.4: kernel splitting)
//
// Blocks of a launch run in any order, and none waits for another one: that their points do not conflict is what the
// program was checked for, or was trusted with. Parts one behind the other are one of these orders. A block is in one
// part and runs once, whatever is tried: no data is there before that a second run would need.

enum {
  // A part that is timed has at most such a fraction of the blocks, and as many as are on the device at a time, so many
  // times: with fewer the end, where not all of the device is busy, would be what is timed; with more, time is lost
  // where
  // the version is a slow one.
  cf_timed_share = 16,
  cf_least_waves = 4,
  cf_most_waves = 64
};

typedef struct cf_division {
  cf_search *search;
  cf_adaptation *adaptation;
  const int *versions; // of the kernels, by candidate
  int candidates, along;
  int launches;    // that the call asks for
  bool is_refused; // some version does not run here
  bool is_done;
  const char *unclear; // why no version is known to be the best; 0 where one is
  cf_shape shape;
  long long blocks;
  long long at_a_time[cf_most_candidates]; // blocks on the device; 0: the candidate is not tried
  cudaEvent_t events[cf_most_candidates + 1];
  long long next; // the first block that is in no part yet
} cf_division;

// How many blocks of a candidate are timed; 0: none.
CF_LOCAL long long cf_part_of(const cf_division *division, int candidate)
{
  const long long held = division->at_a_time[candidate];
  const long long waves = held > 0 ? division->blocks / cf_timed_share / held : 0;
  return waves < cf_least_waves ? 0 : held * (waves < cf_most_waves ? waves : cf_most_waves);
}

// Where a call only decides: what of its launch could run in parts.
CF_LOCAL void cf_plan_parts(const cf_call *call, int leaf, const cf_shape *shape)
{
  cf_division *division = call->division;
  cf_call quiet = *call;
  quiet.why = 0;
  if (division->launches++ > 0 || !call->versions) return;
  division->shape = *shape;
  division->blocks = cf_mul(cf_mul(shape->grid[0], shape->grid[1]), shape->grid[2]);
  for (int k = 0; k < division->candidates; k++) {
    cf_ready ready;
    cf_kernel *kernel = &call->versions[division->versions[k]];
    if (!kernel->symbol || !kernel->has_numbers) continue;
    if (cf_make_ready(&quiet, leaf, kernel, shape, &ready) != CF_OK) {
      division->is_refused = true;
      continue;
    }
    const long long held = cf_blocks_at_a_time(kernel, &ready);
    division->search->warps[k] = cf_warps_of(held, &ready);
    division->at_a_time[k] = held * call->device.machine.multiprocessors;
  }
}

// Why the launch that was planned is not divided; 0 where it is.
CF_LOCAL const char *cf_against_parts(const cf_division *division)
{
  int timed = 0;
  if (division->launches == 0) return "not divided: nothing is launched";
  if (division->launches > 1) return "not divided: a call of several launches";
  if (division->blocks == CF_UNDEFINED || division->blocks > 0x7fffffffLL)
    return "not divided: blocks of more than 31 bits";
  if (division->at_a_time[0] == 0) return "not divided: the blocks of this kernel cannot be launched in parts";
  for (int k = 0; k < division->candidates; k++) timed += cf_part_of(division, k) > 0;
  return cf_part_of(division, 0) > 0 && timed > 1 ? 0 : "not divided: too few blocks to be timed in parts";
}

// What a call that only decides shall plan.
CF_LOCAL void cf_begin_plan(cf_division *division, const cf_trial *trial, const int *versions, int candidates,
                            int along)
{
  memset(division, 0, sizeof *division);
  division->search = trial->search;
  division->adaptation = trial->adaptation;
  division->versions = versions;
  division->candidates = candidates;
  division->along = along;
}

// Takes what was planned: whether the launch is divided.
CF_LOCAL bool cf_begin_division(cf_division *division, cf_trial *trial)
{
  const char *against = cf_against_parts(division);
  for (int k = 0; k <= division->candidates && !against; k++)
    if (cudaEventCreate(&division->events[k]) != cudaSuccess) against = "not divided: parts cannot be timed";
  const bool may = cf_may_divide(trial, against);
  if (may) trial->is_timed = false; // as a whole
  return may;
}

// Whether a launch is the one that was planned.
CF_LOCAL bool cf_has_parts(const cf_call *call, const cf_shape *shape)
{
  return !call->division->is_done && memcmp(shape, &call->division->shape, sizeof *shape) == 0;
}

// Runs the next blocks, at most so many, in a candidate's version.
CF_LOCAL int cf_launch_part(cf_call *call, int leaf, void **arguments, int candidate, long long blocks)
{
  cf_ready ready;
  cf_division *division = call->division;
  cf_kernel *kernel = &call->versions[division->versions[candidate]];
  const long long left = division->blocks - division->next;
  const long long from = division->next, to = from + (blocks < left ? blocks : left);
  const int status = cf_make_ready(call, leaf, kernel, &division->shape, &ready);
  if (status != CF_OK || from == to) return status;
  call->version_run = division->versions[candidate];
  division->next = to;
  return cf_launch_range(call, kernel, &ready, &division->shape, arguments, from, to);
}

// Takes in the times of parts that are over, each as that of all blocks at its speed.
CF_LOCAL void cf_take_parts(cf_division *division, const int *tried, int parts)
{
  cf_search *search = division->search;
  cudaError_t error = cudaEventSynchronize(division->events[parts]);
  cf_lock(division->adaptation);
  for (int part = 0; part < parts && error == cudaSuccess; part++) {
    const int k = tried[part];
    float milliseconds = 0;
    error = cudaEventElapsedTime(&milliseconds, division->events[part], division->events[part + 1]);
    search->milliseconds[k] = milliseconds * (float)division->blocks / (float)cf_part_of(division, k);
    search->times[k] = 1;
    search->trials++;
    if (milliseconds < cf_shortest) division->unclear = "too short to be timed in parts";
    if (search->milliseconds[k] < search->milliseconds[search->best]) search->best = k;
  }
  if (error != cudaSuccess) division->unclear = "parts cannot be timed";
  cf_unlock(division->adaptation);
}

// Runs a part in each of these candidates, and waits for their times. What is timed comes right behind blocks of the
// best version so far, as many as the device has at a time: caches, clocks and the stream are then as they are later.
CF_LOCAL int cf_try_parts(cf_call *call, int leaf, void **arguments, int first, int end)
{
  cf_division *division = call->division;
  int tried[cf_most_candidates], parts = 0, status = CF_OK;
  const int best = division->search->best;
  for (int k = first; k < end; k++)
    if (cf_part_of(division, k) > 0) tried[parts++] = k;
  if (parts == 0) return CF_OK;
  status = cf_launch_part(call, leaf, arguments, best, division->at_a_time[best]);
  cudaEventRecord(division->events[0], call->stream);
  for (int part = 0; part < parts && status == CF_OK; part++) {
    status = cf_launch_part(call, leaf, arguments, tried[part], cf_part_of(division, tried[part]));
    cudaEventRecord(division->events[part + 1], call->stream);
  }
  if (status == CF_OK) cf_take_parts(division, tried, parts);
  return status;
}

// The one launch of a call, in parts: the original and the candidates in the direction of the search, those of the
// other direction where none was better, and the rest of the blocks in the version that has won.
CF_LOCAL int cf_launch_parts(cf_call *call, int leaf, void **arguments)
{
  cf_division *division = call->division;
  cf_search *search = division->search;
  division->is_done = true;
  int status = cf_try_parts(call, leaf, arguments, 0, division->along + 1);
  if (status == CF_OK && search->best == 0 && !division->unclear)
    status = cf_try_parts(call, leaf, arguments, division->along + 1, division->candidates);
  if (status != CF_OK) return status;
  cf_lock(division->adaptation);
  if (division->unclear) search->best = 0;
  cf_settle(search, division->unclear ? 0 : division->candidates,
            division->unclear      ? division->unclear
            : division->is_refused ? "settled by parts of a launch; a version does not run here"
                                   : "settled by parts of a launch");
  const int best = search->best;
  cf_unlock(division->adaptation);
  return cf_launch_part(call, leaf, arguments, best, division->blocks);
}

// The end of a call that was planned to be divided: what ran the rest. Where it failed, nothing is settled.
CF_LOCAL void cf_end_division(const cf_division *division, cf_trial *trial)
{
  cf_search *search = trial->search;
  for (int k = 0; k <= division->candidates; k++)
    if (division->events[k]) cudaEventDestroy(division->events[k]);
  cf_lock(trial->adaptation);
  search->is_under_way = false;
  trial->candidate = search->best;
  trial->state = search->state;
  cf_unlock(trial->adaptation);
}
#endif

#ifdef __cplusplus
} // namespace
#endif

#endif
