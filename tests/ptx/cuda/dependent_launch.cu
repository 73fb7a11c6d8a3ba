// archs: sm_90 sm_100 sm_120
// A kernel that may begin before its forerunner has ended.

// run: dependent(in f32[333], out f32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void dependent(const float *a, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (i < n)
        c[i] = a[i] * 3;
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

// run: by_functions(inout i32[128]) grid=(1) block=(128)
extern "C" __global__ void by_functions(int *c)
{
    cudaGridDependencySynchronize();
    c[threadIdx.x] += 5;
    cudaTriggerProgrammaticLaunchCompletion();
}
