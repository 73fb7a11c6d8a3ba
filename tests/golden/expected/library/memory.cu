// ---- memory between regions, and what the launcher computes for them

namespace {

[[maybe_unused]] inline bool cf_fits(cf_call &call, bool fits, const char *what)
{
  return cf_continues(call, fits ? CF_OK : cf_too_large(call, what));
}

// What the launcher computes for a region.
template <typename Target> [[maybe_unused]] bool cf_computes(cf_call &call, long long value, Target &target, const char *what)
{
  return cf_fits(call, cf_store(value, target), what);
}

// The pool of a device for memory between regions; what a call gives back stays for the next one.
inline cudaError_t cf_pool(int device, cudaMemPool_t &pool)
{
  static std::atomic<cudaMemPool_t> pools[cf_cached_devices];
  if (device >= cf_cached_devices) return cudaDeviceGetDefaultMemPool(&pool, device);
  pool = pools[device].load(std::memory_order_acquire);
  if (pool) return cudaSuccess;
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  cudaError_t error = cudaMemPoolCreate(&pool, &properties);
  if (error != cudaSuccess) return error;
  unsigned long long kept = 1ULL << 26;
  error = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept);
  cudaMemPool_t first = nullptr;
  if (error == cudaSuccess && pools[device].compare_exchange_strong(first, pool)) return cudaSuccess;
  cudaMemPoolDestroy(pool);
  pool = first; // of another thread
  return error;
}

// Memory on the device for the regions of one call, in the order of its stream.
template <typename T> class cf_memory {
  cf_call &call;

public:
  T *data = nullptr;

  cf_memory(cf_call &call, long long elements) : call(call)
  {
    if (!call.launches) return;
    const long long bytes = cf_mul(elements, sizeof(T));
    cudaMemPool_t pool;
    void *memory = nullptr;
    if (!cf_fits(call, bytes != CF_UNDEFINED, "elements of memory between regions")) return;
    cudaError_t error = cf_pool(call.device.number, pool);
    if (error == cudaSuccess) error = cudaMallocFromPoolAsync(&memory, static_cast<size_t>(bytes), pool, call.stream);
    if (error != cudaSuccess) call.status = cf_cuda_error(call.why, error);
    data = static_cast<T *>(memory);
  }

  cf_memory(const cf_memory &) = delete;
  cf_memory &operator=(const cf_memory &) = delete;

  ~cf_memory()
  {
    const cudaError_t error = data ? cudaFreeAsync(data, call.stream) : cudaSuccess;
    if (error != cudaSuccess && call.status == CF_OK) call.status = cf_cuda_error(call.why, error);
  }
};

} // namespace
