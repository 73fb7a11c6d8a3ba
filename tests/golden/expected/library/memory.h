// ---- memory between regions

// The pool of a device for memory between regions; what a call gives back stays for the next one.
static cudaError_t cf_pool(int device, cudaMemPool_t *pool)
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

// Memory on the device for the regions of one call, in the order of its stream. Host code that comes here again gets the
// same, if it is large enough.
static void *cf_take_memory(cf_call *call, int number, long long elements, size_t element_bytes)
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

static void cf_release_memories(cf_call *call, int count)
{
  for (int number = 0; number < count; number++) {
    void *data = call->memories[number].data;
    const cudaError_t error = data ? cudaFreeAsync(data, call->stream) : cudaSuccess;
    if (error != cudaSuccess && call->status == CF_OK) call->status = cf_cuda_error(call->why, error);
  }
}
