// C = B A, the loop written out by four: four loads of A, a row apart each, and four of B, the same for all lanes.
// C is only written, so that the loads are the 8 of the published table; of a sum into C there would be 9.
// run: matmul(in f32[1200], in f32[480], out f32[1000], i32=50, i32=20, i32=24) grid=(2,20) block=(32)
// run: matmul(in f32[1200], in f32[240], out f32[1000], i32=50, i32=20, i32=12) grid=(2,5) block=(31,4)
// run: matmul(in f32[1200], in f32[240], out f32[1000], i32=50, i32=20, i32=12) grid=(2,10) block=(48,2)
// time: matmul(in f32[4194304], in f32[4194304], out f32[16777216], i32=4096, i32=4096, i32=1024) grid=(16,4096) block=(256)
extern "C" __global__ void matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C,
                                  int nx, int ny, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j >= ny)
        return;
    float sum = 0.0f;
    // n is a multiple of 4.
#pragma unroll 1
    for (int k = 0; k < n; k += 4) {
        int a = k * nx + i, b = j * n + k;
        sum += A[a] * B[b];
        sum += A[a + nx] * B[b + 1];
        sum += A[a + 2 * nx] * B[b + 2];
        sum += A[a + 3 * nx] * B[b + 3];
    }
    C[j * nx + i] = sum;
}
