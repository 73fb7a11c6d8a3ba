// Elastic waves on a stretched grid by differences of fourth order, in the shape of "rhs4th3fort": 7 arrays (of them
// uacc and u with three components, strx, stry, strz with one dimension), offsets to 2, 179 loads: of each component of
// u 13 points on the axes and 16 in each of two planes, of mu and la 13, of strx, stry, strz 5, of uacc 3.
// Rows of five points along x: 9 of u0 (its own, four in the plane xy, four in xz), 5 of u1, 5 of u2, one each of mu,
// la, strx. Where the middle comes first, its neighbours take from it and those two away do not if |N| <= 1: two a row,
// 22 rows, 44 shuffles. That is why the derivatives along one axis are before those along two.
// run: rhs4th3fort(inout f32[5625], in f32[5625], in f32[1875] 1..2, in f32[1875] 1..2, in f32[75] 1..2, in f32[5] 1..2, in f32[5] 1..2, i32=75, i32=5, i32=5, f32=0.5, f32=0.25) grid=(3,5,5) block=(32)
// run: rhs4th3fort(inout f32[5625], in f32[5625], in f32[1875] 1..2, in f32[1875] 1..2, in f32[75] 1..2, in f32[5] 1..2, in f32[5] 1..2, i32=75, i32=5, i32=5, f32=0.5, f32=0.25) grid=(3,3,5) block=(31,2)
// run: rhs4th3fort(inout f32[5040], in f32[5040], in f32[1680] 1..2, in f32[1680] 1..2, in f32[40] 1..2, in f32[7] 1..2, in f32[6] 1..2, i32=40, i32=7, i32=6, f32=0.5, f32=0.25) grid=(1,7,6) block=(48)
// time: rhs4th3fort(inout f32[201326592], in f32[201326592], in f32[67108864] 1..2, in f32[67108864] 1..2, in f32[512] 1..2, in f32[512] 1..2, in f32[256] 1..2, i32=512, i32=512, i32=256, f32=0.5, f32=0.25) grid=(8,128,256) block=(64,4)
#define SECOND(m) ((m) == 0 ? -2.5f : (m) * (m) == 1 ? 4.0f / 3.0f : -1.0f / 12.0f)
#define FIRST(m) ((m) * (m) == 1 ? (m) * 2.0f / 3.0f : (m) * -1.0f / 24.0f)

// Offsets 0, 1, -1, 2, -2.
static __device__ constexpr int nth(int n)
{
    return n % 2 ? (n + 1) / 2 : -n / 2;
}

// Second derivative along an axis: `lame` is how often la is added to mu, `stretch` where the grid's factor is.
static __device__ float along(const float *__restrict__ u, const float *__restrict__ mu, const float *__restrict__ la,
                              const float *__restrict__ stretch, int at, int place, int step, float times, float lame)
{
    float sum = 0.0f;
#pragma unroll
    for (int n = 0; n < 5; n++) {
        int m = nth(n);
        float stiffness = times * mu[at + m * step];
        if (lame != 0.0f)
            stiffness += lame * la[at + m * step];
        sum += SECOND(m) * stretch[place + m] * stiffness * u[at + m * step];
    }
    return sum;
}

// Derivative along one axis of a coefficient times that along another.
static __device__ float across(const float *__restrict__ u, const float *__restrict__ coefficient, int at, int outer,
                               int inner)
{
    float sum = 0.0f;
#pragma unroll
    for (int n = 1; n < 5; n++) {
        float slope = 0.0f;
#pragma unroll
        for (int m = 1; m < 5; m++)
            slope += FIRST(nth(m)) * u[at + nth(n) * outer + nth(m) * inner];
        sum += FIRST(nth(n)) * coefficient[at + nth(n) * outer] * slope;
    }
    return sum;
}

extern "C" __global__ void rhs4th3fort(float *__restrict__ uacc, const float *__restrict__ u,
                                       const float *__restrict__ mu, const float *__restrict__ la,
                                       const float *__restrict__ strx, const float *__restrict__ stry,
                                       const float *__restrict__ strz, int nx, int ny, int nz, float a1, float h)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z;
    if (i < 2 || j < 2 || k < 2 || i >= nx - 2 || j >= ny - 2 || k >= nz - 2)
        return;
    int plane = nx * ny, size = plane * nz, at = k * plane + j * nx + i;
    const float *__restrict__ u0 = u, *__restrict__ u1 = u + size, *__restrict__ u2 = u + 2 * size;
    float r0 = along(u0, mu, la, strx, at, i, 1, 2, 1) + along(u0, mu, la, stry, at, j, nx, 1, 0)
             + along(u0, mu, la, strz, at, k, plane, 1, 0);
    float r1 = along(u1, mu, la, strx, at, i, 1, 1, 0) + along(u1, mu, la, stry, at, j, nx, 2, 1)
             + along(u1, mu, la, strz, at, k, plane, 1, 0);
    float r2 = along(u2, mu, la, strx, at, i, 1, 1, 0) + along(u2, mu, la, stry, at, j, nx, 1, 0)
             + along(u2, mu, la, strz, at, k, plane, 2, 1);
    r0 += across(u1, la, at, 1, nx) + across(u1, mu, at, nx, 1) + across(u2, la, at, 1, plane)
        + across(u2, mu, at, plane, 1);
    r1 += across(u0, mu, at, 1, nx) + across(u0, la, at, nx, 1) + across(u2, la, at, nx, plane)
        + across(u2, mu, at, plane, nx);
    r2 += across(u0, mu, at, 1, plane) + across(u0, la, at, plane, 1) + across(u1, mu, at, nx, plane)
        + across(u1, la, at, plane, nx);
    uacc[at] = a1 * uacc[at] + h * r0;
    uacc[at + size] = a1 * uacc[at + size] + h * r1;
    uacc[at + 2 * size] = a1 * uacc[at + 2 * size] + h * r2;
}
