// Kernels that do nothing, have no parameters, or are optimised away.

// run: nothing() grid=(2) block=(64)
extern "C" __global__ void nothing() {}

// run: only_parameters(i32=3, f64=0.5, in f32[10], struct(u8=1, u8=2, u8=3)) grid=(1) block=(32)
struct Three { unsigned char a, b, c; };
extern "C" __global__ void only_parameters(int, double, const float *, Three) {}

// run: dead_code(in i32[32], out i32[32]) grid=(1) block=(32)
extern "C" __global__ void dead_code(const int *a, int *c)
{
    int unused = a[threadIdx.x] * 3;
    if (unused != unused)
        c[5] = 1;
    asm volatile("// a comment and nothing else; 1 2 3");
    asm volatile("");
    c[threadIdx.x] = 0;
}
