// Arrays of a thread: indexed at run time, structs, buffers whose size the program computes, addresses of locals.

// run: sorted(in i32[1000], out i32[1000], i32=100) grid=(1) block=(128)
extern "C" __global__ void sorted(const int *a, int *c, int n)
{
    int i = threadIdx.x;
    if (i >= n)
        return;
    int v[10];
    for (int k = 0; k < 10; k++)
        v[k] = a[10 * i + k];
#pragma unroll 1
    for (int k = 1; k < 10; k++) {
        int x = v[k], j = k;
        for (; j > 0 && v[j - 1] > x; j--)
            v[j] = v[j - 1];
        v[j] = x;
    }
    for (int k = 0; k < 10; k++)
        c[10 * i + k] = v[k];
}

// run: stack_machine(in u8[640] 0..7, out i32[64]) grid=(1) block=(64)
extern "C" __global__ void stack_machine(const unsigned char *program, int *c)
{
    short stack[16];
    int top = 0;
    stack[0] = (short)threadIdx.x;
    for (int k = 0; k < 10; k++) {
        int op = program[10 * threadIdx.x + k];
        if (op < 4 && top < 15)
            stack[++top] = (short)(op * 100 + k);
        else if (op == 4 && top > 0)
            top--, stack[top] = (short)(stack[top] + stack[top + 1]);
        else if (op == 5 && top > 0)
            top--, stack[top] = (short)(stack[top] * stack[top + 1]);
        else if (op == 6)
            stack[top] = (short)~stack[top];
        else
            stack[top / 2] ^= stack[top];
    }
    int r = 0;
    for (int k = 0; k <= top; k++)
        r = r * 7 + stack[k];
    c[threadIdx.x] = r;
}

struct Record { double value; int links[3]; char name[5]; };

// run: local_structs(in u32[64], out f64[64]) grid=(1) block=(64)
extern "C" __global__ void local_structs(const unsigned *a, double *c)
{
    Record records[4];
    unsigned x = a[threadIdx.x];
    for (int k = 0; k < 4; k++)
        records[k] = {k * 0.5, {k + 1, (int)(x >> k & 3), 3 - k}, {(char)k, 'b'}};
    Record copy = records[x & 3];
    records[(x >> 2) & 3] = copy;
    unsigned at = x >> 4 & 3;
    double s = 0;
    for (int k = 0; k < 6; k++) {
        s = s * 3 + records[at].value + records[at].name[k % 5];
        at = records[at].links[k % 3] & 3;
    }
    c[threadIdx.x] = s;
}

// run: allocated_on_stack(in u32[64] 1..20, out u32[64]) grid=(1) block=(64)
extern "C" __global__ void allocated_on_stack(const unsigned *a, unsigned *c)
{
    unsigned n = a[threadIdx.x], s = 0;
    unsigned *v = (unsigned *)__builtin_alloca(n * sizeof(unsigned));
    for (unsigned k = 0; k < n; k++)
        v[k] = k * threadIdx.x;
    for (unsigned k = n; k-- > 0;)
        s = s * 5 + v[k];
    c[threadIdx.x] = s;
}

// run: pointer_to_either(in i32[64], out i32[64]) grid=(1) block=(64)
extern "C" __global__ void pointer_to_either(const int *a, int *c)
{
    int first = 3, second = 4;
    int *p = a[threadIdx.x] > 0 ? &first : &second;
    asm volatile("" : "+l"(p)::"memory");
    *p += a[threadIdx.x];
    c[threadIdx.x] = first * 2 + second;
}
