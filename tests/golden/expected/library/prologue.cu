#ifndef CF_SHARED
#define CF_SHARED(name) extern __shared__ __align__(16) unsigned char name[]
#endif

// Of a multiprocessor; more blocks than that cannot be asked for.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
#define CF_RESIDENT_THREADS 1024
#elif defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 880 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1100)
#define CF_RESIDENT_THREADS 1536
#else
#define CF_RESIDENT_THREADS 2048
#endif
#define CF_BLOCKS(threads, blocks) ((threads) * (blocks) <= CF_RESIDENT_THREADS ? (blocks) : CF_RESIDENT_THREADS / (threads))
