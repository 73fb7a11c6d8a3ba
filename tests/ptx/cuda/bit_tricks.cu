// Counting, reversing, permuting and extracting bits and bytes.

// run: bits_32(in u32[1000], in u32[1000], out u32[1000], i32=1000) grid=(8) block=(128)
extern "C" __global__ void bits_32(const unsigned *a, const unsigned *b, unsigned *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i], y = b[i], r = 0;
    r += __popc(x) + 37u * __clz(x & 0xfffff) + 41u * __ffs(y << 9);
    r ^= __brev(x) + __funnelshift_l(x, y, i) + __funnelshift_r(x, y, i + 3);
    r ^= __funnelshift_lc(x, y, i) - __funnelshift_rc(x, y, i + 5);
    r += __byte_perm(x, y, 0x7531) ^ __byte_perm(x, y, y);
    r ^= ((x & y) | (~x & r)) ^ ((x ^ y) & r);
    r += __sad(x, y, r) + __usad(x, y, 1) + __hadd(x, y) + __urhadd(x, y) + __uhadd(x, y);
    c[i] = r;
}

// run: bits_64(in u64[333], out u64[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void bits_64(const unsigned long long *a, unsigned long long *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long x = a[i];
    c[i] = __brevll(x) ^ __popcll(x) ^ ((unsigned long long)__clzll(x >> (i & 63)) << 20)
         ^ ((unsigned long long)__ffsll(x << (i & 63)) << 40) ^ ((x << (i & 63)) | (x >> (64 - (i & 63)) % 64));
}

// run: fields(in u32[1000], in u32[1000], out i32[1000], i32=1000) grid=(8) block=(128)
extern "C" __global__ void fields(const unsigned *a, const unsigned *b, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i], y = b[i], u, v, w, q, m, z;
    int s;
    unsigned long long l;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(u) : "r"(x), "r"(y & 255), "r"((y >> 8) & 63));
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(s) : "r"(x), "r"(y & 31), "r"((y >> 8) & 31));
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(v) : "r"(x), "r"(y), "r"(y & 31), "r"((y >> 5) & 15));
    asm("bfi.b64 %0, %1, %2, 21, 17;" : "=l"(l) : "l"((unsigned long long)x << 9), "l"((unsigned long long)y * x));
    asm("bfind.u32 %0, %1;" : "=r"(w) : "r"(x >> (y & 31)));
    asm("bfind.shiftamt.s32 %0, %1;" : "=r"(q) : "r"(x));
    asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(m) : "r"(y & 63), "r"(x & 63));
    asm("szext.wrap.s32 %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y));
    c[i] = (int)(u + 3 * v + 5 * w + 7 * q + 11 * m + 13 * z + (unsigned)l + (unsigned)(l >> 32)) ^ s;
}

// run: dot_products(in u32[1000], in u32[1000], out i32[1000], i32=1000) grid=(8) block=(128)
extern "C" __global__ void dot_products(const int *a, const int *b, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int r = __dp4a(a[i], b[i], i);
    r ^= (int)__dp4a((unsigned)a[i], (unsigned)b[i], (unsigned)r);
    r += __dp2a_lo(a[i], b[i], r) ^ __dp2a_hi(a[i], b[i], i);
    unsigned u;
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(u) : "r"(a[i]), "r"(b[i]), "r"(r));
    c[i] = r + (int)u;
}

// run: nth_set_bit(in u32[333], out u32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void nth_set_bit(const unsigned *a, unsigned *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    c[i] = __fns(a[i], i & 31, (i % 7) - 3);
}

// Bytes and halves as vectors in one register.
// run: packed_bytes(in u32[333], in u32[333], out u32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void packed_bytes(const unsigned *a, const unsigned *b, unsigned *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i], y = b[i];
    unsigned r = __vadd4(x, y) ^ __vsub2(x, y) ^ __vmaxs4(x, y) ^ __vminu2(x, y) ^ __vabsdiffu4(x, y);
    c[i] = r + __vcmpgtu4(x, y) + __vavgu4(x, y) + __vsadu4(x, y) + __vaddss2(x, y);
}
