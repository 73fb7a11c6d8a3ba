// y += A x, a row a thread: y once, the loop written out by two with four loads, the rest with two.
// run: matvec(in f32[2170], in f32[31], inout f32[70], i32=31, i32=70) grid=(3) block=(32)
// run: matvec(in f32[2170], in f32[31], inout f32[70], i32=31, i32=70) grid=(3) block=(33)
// run: matvec(in f32[2100], in f32[30], inout f32[70], i32=30, i32=70) grid=(1) block=(96)
// time: matvec(in f32[268435456], in f32[256], inout f32[1048576], i32=256, i32=1048576) grid=(4096) block=(256)
extern "C" __global__ void matvec(const float *__restrict__ A, const float *__restrict__ x, float *__restrict__ y,
                                  int nx, int ny)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ny)
        return;
    float sum = y[i];
    int k = 0;
#pragma unroll 1
    for (; k + 1 < nx; k += 2) {
        sum += A[i * nx + k] * x[k];
        sum += A[i * nx + k + 1] * x[k + 1];
    }
    if (k < nx)
        sum += A[i * nx + k] * x[k];
    y[i] = sum;
}
