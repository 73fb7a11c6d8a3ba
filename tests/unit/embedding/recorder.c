/* Stands in for the CUDA runtime: the functions that launchers with embedded kernels call. A launch prints what was
   launched; the device has the limits of an H200. The environment says what else there is:
   RECORDER_TIMES="0.9,0.5" how many milliseconds launches of the original take, of version 1, ... (else all calls take one),
   RECORDER_MISSING=NAME a kernel that is not there, RECORDER_CAPTURES a stream of which a graph is captured,
   RECORDER_BUSY=N how many times the device is asked and is not done, RECORDER_UNTIMED that events cannot be made,
   RECORDER_ARGUMENTS=N how many arguments kernels have: where there are five more, these say which blocks run, which is
   printed; the launch then takes its share of the time, and where it has none of the blocks, or is empty, it fails. */
#include <cuda_runtime_api.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cudaError_t cudaGetDevice(int *device)
{
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
  (void)device;
  switch (attribute) {
  case cudaDevAttrMaxGridDimX: *value = 0x7fffffff; break;
  case cudaDevAttrMaxGridDimY:
  case cudaDevAttrMaxGridDimZ: *value = 65535; break;
  case cudaDevAttrMaxBlockDimX:
  case cudaDevAttrMaxBlockDimY:
  case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
  case cudaDevAttrMaxBlockDimZ: *value = 64; break;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = 232448; break;
  case cudaDevAttrMaxRegistersPerMultiprocessor: *value = 65536; break;
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = 233472; break;
  case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
  case cudaDevAttrWarpSize:
  case cudaDevAttrMaxBlocksPerMultiprocessor: *value = 32; break;
  case cudaDevAttrMultiProcessorCount: *value = 132; break;
  case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
  case cudaDevAttrReservedSharedMemoryPerBlock: *value = 1024; break;
  default: *value = 0; break;
  }
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
  (void)device;
  memset(properties, 0, sizeof *properties);
  strcpy(properties->name, "recorder");
  return cudaSuccess;
}

/* The time at which the device is, in milliseconds; an event is such a time. Threads take turns. */
static double now;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static int version_of(const char *kernel)
{
  int version = 0;
  return sscanf(kernel, "cf_version%d_", &version) == 1 ? version : 0;
}

static void pass_time(const char *kernel, double share)
{
  const char *times = getenv("RECORDER_TIMES");
  for (int left = version_of(kernel); times && left > 0; left--) {
    times = strchr(times, ',');
    if (times) times++;
  }
  pthread_mutex_lock(&turn);
  if (times) now += atof(times) * share;
  pthread_mutex_unlock(&turn);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
  if (getenv("RECORDER_UNTIMED")) return cudaErrorMemoryAllocation;
  *event = (cudaEvent_t)calloc(1, sizeof(double));
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
  free(event);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
  (void)stream;
  pthread_mutex_lock(&turn);
  *(double *)event = now;
  pthread_mutex_unlock(&turn);
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
  static int asked;
  (void)event;
  const char *busy = getenv("RECORDER_BUSY");
  return busy && __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED) < atoi(busy) ? cudaErrorNotReady : cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
  (void)stream;
  *status = getenv("RECORDER_CAPTURES") ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads, size_t bytes)
{
  (void)function, (void)bytes;
  *blocks = 2048 / threads;
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
  (void)event;
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
  *milliseconds = getenv("RECORDER_TIMES") ? (float)(*(double *)end - *(double *)begin) : 1;
  return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error) { return error == cudaSuccess ? "no error" : "an error"; }

/* A library is its image, a kernel its name. */
cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *jit, void **jit_values,
                                unsigned int jits, enum cudaLibraryOption *options, void **values, unsigned int count)
{
  (void)jit, (void)jit_values, (void)jits, (void)options, (void)values, (void)count;
  printf("load %08x\n", *(const unsigned int *)code);
  *library = (cudaLibrary_t)code;
  return cudaSuccess;
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
  (void)library;
  return cudaSuccess;
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
  (void)library;
  const char *missing = getenv("RECORDER_MISSING");
  if (missing && strcmp(missing, name) == 0) return cudaErrorInvalidKernelImage;
  *kernel = (cudaKernel_t)name;
  return cudaSuccess;
}

cudaError_t cudaLibraryGetGlobal(void **address, size_t *bytes, cudaLibrary_t library, const char *name)
{
  (void)library;
  printf("table %s\n", name);
  *address = malloc(1 << 10);
  *bytes = 1 << 10;
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function)
{
  (void)function;
  memset(attributes, 0, sizeof *attributes);
  attributes->maxThreadsPerBlock = 1024;
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value)
{
  (void)attribute;
  printf("raise %s %d\n", (const char *)function, value);
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t bytes, cudaStream_t stream)
{
  (void)stream;
  const char *own = getenv("RECORDER_ARGUMENTS");
  int count = 0;
  double share = 1;
  while (own && arguments[count]) count++;
  char part[32] = "";
  if (own && count == atoi(own) + 5) {
    unsigned numbers[5];
    for (int k = 0; k < 5; k++) numbers[k] = *(const unsigned *)arguments[count - 5 + k];
    snprintf(part, sizeof part, " %u-%u", numbers[0], numbers[1]);
    const double blocks = (double)numbers[2] * numbers[3] * numbers[4];
    share = (numbers[1] - numbers[0]) / blocks;
    if (numbers[1] <= numbers[0] || numbers[1] > blocks) return cudaErrorInvalidValue;
  }
  pass_time((const char *)function, share);
  printf("launch %s %u,%u,%u %u,%u,%u %zu%s\n", (const char *)function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
         bytes, part);
  return cudaSuccess;
}
