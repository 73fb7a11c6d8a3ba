/* Stands in for the CUDA runtime: the functions that launchers with embedded kernels call. A launch prints what was
   launched; the device has the limits of an H200. */
#include <cuda_runtime_api.h>

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

/* Whatever lies between two events takes a millisecond. */
cudaError_t cudaEventCreate(cudaEvent_t *event)
{
  *event = 0;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
  (void)event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
  (void)event, (void)stream;
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
  (void)event;
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
  (void)begin, (void)end;
  *milliseconds = 1;
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
  (void)arguments, (void)stream;
  printf("launch %s %u,%u,%u %u,%u,%u %zu\n", (const char *)function, grid.x, grid.y, grid.z, block.x, block.y, block.z, bytes);
  return cudaSuccess;
}
