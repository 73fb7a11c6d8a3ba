// Surface objects: loads, stores and reductions with each way to treat what lies outside. Not run.

extern "C" __global__ void surface_copies(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= n)
        return;
    float f;
    int4 v;
    surf2Dread(&f, from, x * 4, y);
    surf2Dwrite(f * 2, to, x * 4, y, cudaBoundaryModeClamp);
    surf1Dread(&v, from, x * 16, cudaBoundaryModeZero);
    surf1Dwrite(v, to, x * 16);
    surf3Dread(&f, from, x * 4, y, 1, cudaBoundaryModeTrap);
    surf2DLayeredwrite(f, to, x * 4, y, 3);
    surf1DLayeredwrite((unsigned char)x, to, x, 1);
}

extern "C" __global__ void surface_inline(cudaSurfaceObject_t s, unsigned *c)
{
    unsigned width;
    asm volatile("suq.width.b32 %0, [%1];" : "=r"(width) : "l"(s));
    asm volatile("sured.b.add.2d.u32.clamp [%0, {%1, %2}], %3;" ::"l"(s), "r"(threadIdx.x * 4), "r"(0), "r"(width));
    asm volatile("sust.p.2d.v4.b32.trap [%0, {%1, %2}], {%3, %3, %3, %3};" ::"l"(s), "r"(threadIdx.x), "r"(1), "r"(width));
    c[0] = width;
}
