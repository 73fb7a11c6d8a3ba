// Texture objects of one to three dimensions, arrays, cubes, level of detail, gathers. Not run: objects are made by the host.

extern "C" __global__ void texture_fetches(cudaTextureObject_t t, float *c, float4 *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = i * 0.01f, y = i * 0.02f;
    float s = tex1D<float>(t, x) + tex2D<float>(t, x, y) + tex3D<float>(t, x, y, 0.5f);
    s += tex1Dfetch<float>(t, i) + tex1DLayered<float>(t, x, 2) + tex2DLayered<float>(t, x, y, i & 3);
    s += texCubemap<float>(t, x, y, 1.0f) + tex1DLod<float>(t, x, 1.0f) + tex2DLod<float>(t, x, y, 2.0f);
    s += tex2DGrad<float>(t, x, y, make_float2(0.1f, 0), make_float2(0, 0.1f));
    c[i] = s;
    d[i] = tex2Dgather<float4>(t, x, y, 1);
}

extern "C" __global__ void texture_integers(cudaTextureObject_t t, int4 *c, unsigned char *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int4 v = tex1Dfetch<int4>(t, i);
    uchar2 u = tex2D<uchar2>(t, i, i);
    c[i] = make_int4(v.w, v.z, v.y, v.x + u.x);
    d[i] = u.y;
}

extern "C" __global__ void texture_queries(cudaTextureObject_t t, int *c)
{
    int width, height, type;
    asm volatile("txq.width.b32 %0, [%1];" : "=r"(width) : "l"(t));
    asm volatile("txq.height.b32 %0, [%1];" : "=r"(height) : "l"(t));
    asm volatile("txq.channel_data_type.b32 %0, [%1];" : "=r"(type) : "l"(t));
    c[0] = width, c[1] = height, c[2] = type;
}
