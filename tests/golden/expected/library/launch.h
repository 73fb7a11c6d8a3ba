// ---- what every launch needs

enum { cf_cached_devices = 64 }; // devices with higher numbers are asked every time

typedef struct cf_device {
  int number;
  cf_machine machine;
  long long blocks[3];  // limits of a grid along x, y, z
  long long threads[3]; // limits of a block along x, y, z
  long long shared_bytes;
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
  int tile;      // which one: 0 none, a number of one, below 0 the best that fits
  int done;      // sweeps which a launch has done before host code comes to them
  int instance;  // which time tile has run in this loop, below 0 none
  int time_tile; // the last one that has run, as a number of the last region that was come to
  cf_count cycles;   // that launches are expected to take
  cf_count left_out; // points that parameters leave out
  cf_memory *memories; // of this call, if it has some
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

// A kernel of this file.
typedef struct cf_kernel {
  const void *function;
  cf_kernel_state state;
} cf_kernel;

static inline cudaError_t cf_function_of(const cf_kernel *kernel, const void **function)
{
  *function = kernel->function;
  return cudaSuccess;
}

// The bytes of shared memory that a kernel takes beside what its source asks for.
static inline cf_count cf_added_bytes(const cf_kernel *, long long) { return 0; }

// Functions of the library for where names of the program stand, which may be those of these functions.
CF_UNUSED static inline bool cf_is_same(const void *a, const void *b, size_t bytes) { return memcmp(a, b, bytes) == 0; }
CF_UNUSED static inline void cf_copy(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
CF_UNUSED static inline void cf_clear(void *bytes, size_t count) { memset(bytes, 0, count); }

static inline bool cf_is_empty(long long extent)
{
  return extent != CF_UNDEFINED && extent <= 0;
}

// Whether data begins at a multiple of 16 bytes.
CF_UNUSED static inline bool cf_begins(const void *data) { return (size_t)data % 16 == 0; }

// The lesser of two vector widths: what two kernels may both access together.
CF_UNUSED static inline int cf_lesser(int a, int b) { return a < b ? a : b; }

// Whether a launch has done this sweep; it is then no longer ahead. The region's own time tiles begin at `first`.
CF_UNUSED static inline bool cf_is_done(cf_call *call, long long left, int first)
{
  if (call->instance >= 0) call->time_tile = first + call->instance;
  if (left <= 1) call->instance = -1; // the loop ends
  if (call->done == 0) return false;
  call->done--;
  return true;
}

CF_UNUSED static inline int cf_swept(cf_call *call, int sweeps, int instance, int status)
{
  if (status != CF_OK) return status;
  call->done = sweeps - 1;
  call->instance = instance;
  return CF_OK;
}

static inline int cf_cuda_error(cf_choice *why, cudaError_t error)
{
  return cf_report(why, CF_ECUDA, CF_NO_LEAF, cudaGetErrorString(error), error, 0);
}

CF_UNUSED static inline int cf_too_large(cf_call *call, const char *what)
{
  return cf_report(call->why, CF_EOVERFLOW, CF_NO_LEAF, what, 0, 0);
}

static inline long long cf_at_least_1(long long value) { return value < 1 ? 1 : value; }

// What a device tells of its memory; what it does not tell stays as it is for its architecture.
static inline void cf_measure_memory(int number, cf_machine *machine)
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

static cudaError_t cf_read_device(int number, cf_device *device)
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
  // Of single precision, and by Little's law.
  const long long lanes = asked[11].value * device->machine.issued_per_cycle * asked[13].value;
  const long long words = cf_at_least_1(device->machine.dram_bytes_per_kilocycle / 4);
  device->machine.operations_per_word = cf_at_least_1(lanes * 1000 / words);
  device->machine.words_in_flight_per_multiprocessor =
      cf_at_least_1(device->machine.global_latency_cycles * words / (1000 * asked[13].value));
  return cudaSuccess;
}

static cudaError_t cf_find_device(int number, cf_device *device)
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
static bool cf_begin(cf_call *call, bool launches, const cf_machine *machine, cudaStream_t stream, cf_choice *why)
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
  call->status = error == cudaSuccess ? cf_report(why, CF_OK, CF_NO_LEAF, "", 0, 0) : cf_cuda_error(why, error);
  return call->status == CF_OK;
}

CF_UNUSED static inline bool cf_continues(cf_call *call, int status)
{
  call->status = status;
  return status == CF_OK;
}

// What a kernel or the launcher is passed must fit into its type.
CF_UNUSED static inline bool cf_fits(cf_call *call, long long value, long long stored, const char *what)
{
  return cf_continues(call, value != CF_UNDEFINED && stored == value ? CF_OK : cf_too_large(call, what));
}

CF_UNUSED static inline bool cf_require(cf_call *call, long long condition, const char *text, long long needed, long long available)
{
  return cf_continues(call, cf_check(call->why, condition, text, needed, available));
}

// The limits of a compiled kernel on the device: threads of a block (its registers decide), dynamic shared memory.
static cudaError_t cf_read_kernel(const cf_device *device, const void *function, cf_kernel_state *state, int *threads,
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
static cudaError_t cf_raise_shared_memory(const cf_device *device, const void *function, cf_kernel_state *state,
                                          int shared_bytes)
{
  const bool cached = device->number < cf_cached_devices;
  if (cached && CF_LOAD(state->raised[device->number])) return cudaSuccess;
  const cudaError_t error = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error == cudaSuccess && cached) CF_STORE(state->raised[device->number], 1);
  return error;
}

// Whether there are blocks and threads, with positions that kernels can compute; the status says what is wrong.
static bool cf_has_points(const cf_call *call, int leaf, const cf_shape *shape, int *status)
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
static int cf_make_ready(const cf_call *call, int leaf, cf_kernel *kernel, const cf_shape *shape, cf_ready *ready)
{
  const cf_device *device = &call->device;
  int kernel_threads = 0, kernel_shared_bytes = 0;
  ready->threads = shape->block[0] * shape->block[1] * shape->block[2];
  cudaError_t error = cf_function_of(kernel, &ready->function);
  if (error == cudaSuccess)
    error = cf_read_kernel(device, ready->function, &kernel->state, &kernel_threads, &kernel_shared_bytes);
  if (error != cudaSuccess) return cf_cuda_error(call->why, error);
  if (ready->threads > kernel_threads)
    return cf_report(call->why, CF_ELIMIT, leaf, "threads of a block of the compiled kernel", ready->threads, kernel_threads);
  const cf_count bytes = cf_plus(cf_times(4, cf_amount(shape->shared_words)), cf_added_bytes(kernel, ready->threads));
  if (bytes > (cf_count)kernel_shared_bytes)
    return cf_report(call->why, CF_ELIMIT, leaf, "bytes of shared memory", cf_shown(bytes), kernel_shared_bytes);
  ready->bytes = (size_t)bytes;
  if (bytes > 48 * 1024 && call->launches)
    error = cf_raise_shared_memory(device, ready->function, &kernel->state, kernel_shared_bytes);
  return error == cudaSuccess ? CF_OK : cf_cuda_error(call->why, error);
}

// Checks a launch against everything that could make it fail or compute wrongly, then launches; where it only decides
// no further than a machine without a device allows.
static int cf_launch(cf_call *call, int leaf, cf_kernel *kernel, const cf_shape *shape, void **arguments)
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
  if (!call->launches) return CF_OK;
  // Along y and z the kernels stride by the grid, so any number of blocks is right.
  const dim3 grid = { (unsigned)shape->grid[0],
                      (unsigned)(shape->grid[1] < device->blocks[1] ? shape->grid[1] : device->blocks[1]),
                      (unsigned)(shape->grid[2] < device->blocks[2] ? shape->grid[2] : device->blocks[2]) };
  const dim3 block = { (unsigned)shape->block[0], (unsigned)shape->block[1], (unsigned)shape->block[2] };
  const cudaError_t error = cudaLaunchKernel(ready.function, grid, block, arguments, ready.bytes, call->stream);
  return error == cudaSuccess ? CF_OK : cf_cuda_error(call->why, error);
}

#ifdef CF_OBSERVE
CF_UNUSED static int (*const cf_print)(char *, size_t, const char *, ...) = snprintf; // whatever the program calls so

// What a call of a launcher took, as a line of the file that the environment variable CF_OBSERVE names; the call then waits
// for the device. `comprehensive tune --import` reads such files.
typedef struct cf_observation {
  cudaStream_t stream;
  const char *path; // nowhere: nothing is observed
  cudaEvent_t begin, end;
} cf_observation;

static void cf_observe(cf_observation *observed, bool launches, cudaStream_t stream)
{
  observed->stream = stream;
  observed->path = launches ? getenv("CF_OBSERVE") : 0;
  observed->begin = 0;
  observed->end = 0;
  if (observed->path && (cudaEventCreate(&observed->begin) != cudaSuccess || cudaEventCreate(&observed->end) != cudaSuccess ||
                         cudaEventRecord(observed->begin, stream) != cudaSuccess))
    observed->path = 0;
}

static void cf_write_observed(const cf_observation *observed, int device, const char *function, const char *sizes,
                              const char *parameters, int leaf)
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
  fprintf(log, "%s; %s; %s; %s; %d; %.3f\n", function, properties.name, sizes, parameters, leaf, 1000.0 * milliseconds);
  fclose(log);
}

static void cf_end_observation(const cf_observation *observed)
{
  if (observed->begin) cudaEventDestroy(observed->begin);
  if (observed->end) cudaEventDestroy(observed->end);
}
#endif
