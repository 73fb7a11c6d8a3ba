// Dynamic shared memory: one array, several types at one base, beside static arrays, with the size read back.

extern __shared__ float floats[];
extern __shared__ __align__(128) unsigned char raw[];

// run: reversed(in f32[256], out f32[256]) grid=(2) block=(128) smem=512
extern "C" __global__ void reversed(const float *a, float *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    floats[threadIdx.x] = a[i];
    __syncthreads();
    c[i] = floats[blockDim.x - 1 - threadIdx.x];
}

// run: carved(in f64[100], in i32[100], out f64[100], out u8[100]) grid=(1) block=(100) smem=1300
extern "C" __global__ void carved(const double *a, const int *b, double *c, unsigned char *d)
{
    double *first = (double *)raw;
    int *second = (int *)(first + blockDim.x);
    unsigned char *third = (unsigned char *)(second + blockDim.x);
    int i = threadIdx.x;
    first[i] = a[i];
    second[i] = b[i];
    third[i] = (unsigned char)(b[i] >> 3);
    __syncthreads();
    int j = (i * 37 + 5) % 100;
    c[i] = first[j] + second[99 - j];
    d[i] = third[j];
}

// run: beside_static(in i32[64], out u32[64]) grid=(1) block=(64) smem=256
extern "C" __global__ void beside_static(const int *a, unsigned *c)
{
    __shared__ int fixed[64];
    unsigned bytes;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    fixed[threadIdx.x] = a[threadIdx.x];
    ((int *)raw)[threadIdx.x] = a[63 - threadIdx.x] + (int)bytes;
    __syncthreads();
    c[threadIdx.x] = (unsigned)fixed[(threadIdx.x + 9) & 63] ^ ((unsigned *)raw)[(threadIdx.x * 5) & 63];
}
