// Globals with initial values: addresses of globals, offsets into them, functions, bytes, structs, nothing at all.

struct Node { int value; const Node *next; };
struct Mixed { char letter; short number; double real; const int *where; unsigned char rest[3]; };
struct alignas(32) Aligned { float x, y, z; };
union Either { float f; unsigned u; unsigned char b[4]; };

struct __attribute__((packed)) Packed { char letter; int *where; short tail; };

__device__ int numbers[10] = {1, -2, 3, -4, 5};
__device__ int *middle = numbers + 4;
__device__ const int *table[3] = {numbers, &numbers[9], nullptr};
extern __device__ const Node second, third;
__device__ const Node first = {10, &second};
__device__ const Node second = {20, &third};
__device__ const Node third = {30, nullptr};
__device__ Mixed mixed[2] = {{'x', -300, 2.5, &numbers[2], {1, 2, 3}}, {'y', 7, -1e10, nullptr, {255, 0, 128}}};
__device__ Packed packed = {1, numbers + 1, -2};
__device__ Aligned aligned = {1, 2, 3};
__device__ Either either = {1.0f};
__device__ long long minimum = -0x7fffffffffffffffLL - 1;
__device__ float not_finite[3] = {__builtin_huge_valf(), -__builtin_huge_valf(), -0.0f};
__device__ double uninitialised[64];
__device__ unsigned char text[] = "a string with \"quotes\", a \\ and \xff";
static __device__ unsigned short hidden[3] = {65535, 1, 2};
__device__ bool flags[4] = {true, false, true, true};

// run: initial_values(out i64[64]) grid=(1) block=(64)
extern "C" __global__ void initial_values(long long *c)
{
    int i = threadIdx.x;
    long long r;
    switch (i % 8) {
    case 0: r = numbers[i % 10] + *middle + middle[-1]; break;
    case 1: r = *table[i & 1] + (table[2] == nullptr); break;
    case 2: r = first.next->value + first.next->next->value * 100; break;
    case 3: r = mixed[i / 32].letter + mixed[i / 32].number * 3 + (long long)mixed[i / 32].real + mixed[i / 32].rest[i % 3]; break;
    case 4: r = *mixed[0].where + (long long)aligned.z + either.u + either.b[i % 4] + flags[i % 4] + *packed.where * packed.tail; break;
    case 5: r = minimum + __float_as_int(not_finite[i % 3]); break;
    case 6: r = text[i % sizeof text] + hidden[i % 3]; break;
    default: r = __double_as_longlong(uninitialised[i]);
    }
    c[i] = r;
}

// Written by one launch; the later reads of the same launch see it.
// run: written(in i32[64], out i32[64]) grid=(1) block=(64)
extern "C" __global__ void written(const int *a, int *c)
{
    uninitialised[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    c[threadIdx.x] = (int)uninitialised[63 - threadIdx.x] ^ (int)((unsigned long long)&aligned & 31);
}
