// One component of elastic waves on a curved grid, in the shape of "derivative": 10 arrays, offsets to 2, 166 loads.
// Rows of five points along x: 9 of u1 and 9 of u2 (the point's own, four in the plane xy, four in xz), 5 of u3, one
// each of mu, la, met1: 26 rows, 130 loads. The middle of each is read first, so that its neighbours take from it and
// those two away do not if |N| <= 1: 52 shuffles. The other 36: mu, la, met1 at 1 and 2 along y and z, met2 and met3 at
// five points along z, strx and r1 once.
// run: derivative(inout f32[1875], in f32[1875], in f32[1875], in f32[1875], in f32[1875] 1..2, in f32[1875] 1..2, in f32[1875] 1..2, in f32[1875] 1..2, in f32[1875] 1..2, in f32[75] 1..2, i32=75, i32=5, i32=5, f32=0.5, f32=0.25) grid=(3,5,5) block=(32)
// run: derivative(inout f32[1875], in f32[1875], in f32[1875], in f32[1875], in f32[1875] 1..2, in f32[1875] 1..2, in f32[1875] 1..2, in f32[1875] 1..2, in f32[1875] 1..2, in f32[75] 1..2, i32=75, i32=5, i32=5, f32=0.5, f32=0.25) grid=(3,2,5) block=(33,3)
// run: derivative(inout f32[1680], in f32[1680], in f32[1680], in f32[1680], in f32[1680] 1..2, in f32[1680] 1..2, in f32[1680] 1..2, in f32[1680] 1..2, in f32[1680] 1..2, in f32[40] 1..2, i32=40, i32=7, i32=6, f32=0.5, f32=0.25) grid=(1,7,6) block=(48)
// time: derivative(inout f32[67108864], in f32[67108864], in f32[67108864], in f32[67108864], in f32[67108864] 1..2, in f32[67108864] 1..2, in f32[67108864] 1..2, in f32[67108864] 1..2, in f32[67108864] 1..2, in f32[512] 1..2, i32=512, i32=512, i32=256, f32=0.5, f32=0.25) grid=(8,128,256) block=(64,4)
#define SECOND(m) ((m) == 0 ? -2.5f : (m) * (m) == 1 ? 4.0f / 3.0f : -1.0f / 12.0f)
#define FIRST(m) ((m) * (m) == 1 ? (m) * 2.0f / 3.0f : (m) * -1.0f / 24.0f)

// Offsets 0, 1, -1, 2, -2.
static __device__ constexpr int nth(int n)
{
    return n % 2 ? (n + 1) / 2 : -n / 2;
}

// Second derivative with a product of two coefficients.
static __device__ float along(const float *__restrict__ u, const float *__restrict__ one,
                              const float *__restrict__ other, int at, int step)
{
    float sum = 0.0f;
#pragma unroll
    for (int n = 0; n < 5; n++)
        sum += SECOND(nth(n)) * one[at + nth(n) * step] * other[at + nth(n) * step] * u[at + nth(n) * step];
    return sum;
}

// Derivative along one axis of a coefficient times that along x.
static __device__ float across(const float *__restrict__ u, const float *__restrict__ coefficient, int at, int outer)
{
    float sum = 0.0f;
#pragma unroll
    for (int n = 1; n < 5; n++) {
        float slope = 0.0f;
#pragma unroll
        for (int m = 1; m < 5; m++)
            slope += FIRST(nth(m)) * u[at + nth(n) * outer + nth(m)];
        sum += FIRST(nth(n)) * coefficient[at + nth(n) * outer] * slope;
    }
    return sum;
}

extern "C" __global__ void derivative(float *__restrict__ r1, const float *__restrict__ u1,
                                      const float *__restrict__ u2, const float *__restrict__ u3,
                                      const float *__restrict__ mu, const float *__restrict__ la,
                                      const float *__restrict__ met1, const float *__restrict__ met2,
                                      const float *__restrict__ met3, const float *__restrict__ strx, int nx, int ny,
                                      int nz, float a1, float h)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z;
    if (i < 2 || j < 2 || k < 2 || i >= nx - 2 || j >= ny - 2 || k >= nz - 2)
        return;
    int plane = nx * ny, at = k * plane + j * nx + i;
    float sum = strx[i] * (along(u1, mu, met1, at, 1) + along(u2, la, met1, at, 1));
    sum += along(u1, mu, met1, at, nx) + along(u2, la, met1, at, nx);
    sum += along(u1, mu, met1, at, plane) + along(u2, la, met1, at, plane) + along(u3, met2, met3, at, plane);
    sum += across(u1, mu, at, nx) + across(u1, la, at, plane) + across(u2, la, at, nx) + across(u2, mu, at, plane);
    sum += across(u3, la, at, plane);
#pragma unroll
    for (int n = 1; n < 5; n++)
        sum += FIRST(nth(n)) * u3[at + nth(n)];
    r1[at] = a1 * r1[at] + h * sum;
}
