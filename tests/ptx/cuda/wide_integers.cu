// Products of 128 bits, carries, high halves and 24-bit products.

// run: product_128(in u64[1000], in u64[1000], out u64[2000], i32=1000) grid=(8) block=(128)
extern "C" __global__ void product_128(const unsigned long long *a, const unsigned long long *b,
                                       unsigned long long *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned __int128 p = (unsigned __int128)a[i] * b[i];
    p += (unsigned __int128)b[i] << 37;
    p -= a[i];
    p ^= p >> 67;
    c[2 * i] = (unsigned long long)p;
    c[2 * i + 1] = (unsigned long long)(p >> 64);
}

// run: high_halves(in i32[333], in i32[333], in i64[333], in i64[333], out i32[333], out i64[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void high_halves(const int *a, const int *b, const long long *c, const long long *d,
                                       int *e, long long *f, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned u = a[i], v = b[i];
    e[i] = __mulhi(a[i], b[i]) ^ (int)__umulhi(u, v) ^ __mul24(a[i], b[i]) ^ (int)__umul24(u, v);
    f[i] = __mul64hi(c[i], d[i]) ^ (long long)__umul64hi(c[i], d[i]) ^ (long long)a[i] * b[i]
         ^ (long long)((unsigned long long)u * v);
}

// A chain of carries over 160 bits.
// run: carries(in u32[500], in u32[500], out u32[500], out u32[500], i32=100) grid=(2) block=(64)
extern "C" __global__ void carries(const unsigned *a, const unsigned *b, unsigned *sum, unsigned *difference, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned *x = a + 5 * i, *y = b + 5 * i;
    unsigned s0, s1, s2, s3, s4, d0, d1, d2, d3, d4;
    asm("add.cc.u32 %0, %5, %10; addc.cc.u32 %1, %6, %11; addc.cc.u32 %2, %7, %12;\n\t"
        "addc.cc.u32 %3, %8, %13; addc.u32 %4, %9, %14;"
        : "=&r"(s0), "=&r"(s1), "=&r"(s2), "=&r"(s3), "=&r"(s4)
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]));
    asm("sub.cc.u32 %0, %5, %10; subc.cc.u32 %1, %6, %11; subc.cc.u32 %2, %7, %12;\n\t"
        "subc.cc.u32 %3, %8, %13; subc.u32 %4, %9, %14;"
        : "=&r"(d0), "=&r"(d1), "=&r"(d2), "=&r"(d3), "=&r"(d4)
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]));
    unsigned *s = sum + 5 * i, *d = difference + 5 * i;
    s[0] = s0, s[1] = s1, s[2] = s2, s[3] = s3, s[4] = s4;
    d[0] = d0, d[1] = d1, d[2] = d2, d[3] = d3, d[4] = d4;
}

// Products with carries: mad.lo.cc, madc.hi.cc, madc.hi.
// run: long_product(in u32[300], in u32[300], out u32[400], i32=100) grid=(1) block=(100)
extern "C" __global__ void long_product(const unsigned *a, const unsigned *b, unsigned *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned r0, r1, r2, r3;
    asm("{\n\t"
        "mul.lo.u32 %0, %4, %7;\n\t"
        "mul.hi.u32 %1, %4, %7;\n\t"
        "mad.lo.cc.u32 %1, %5, %7, %1;\n\t"
        "madc.hi.cc.u32 %2, %5, %7, 0;\n\t"
        "madc.hi.u32 %3, %6, %7, 0;\n\t"
        "mad.lo.cc.u32 %2, %6, %7, %2;\n\t"
        "addc.u32 %3, %3, 0;\n\t"
        "mad.hi.cc.s32 %2, %8, %9, %2;\n\t"
        "madc.lo.s32 %3, %8, %9, %3;\n\t"
        "}"
        : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=&r"(r3)
        : "r"(a[3 * i]), "r"(a[3 * i + 1]), "r"(a[3 * i + 2]), "r"(b[3 * i]), "r"(b[3 * i + 1]), "r"(b[3 * i + 2]));
    c[4 * i] = r0, c[4 * i + 1] = r1, c[4 * i + 2] = r2, c[4 * i + 3] = r3;
}
