// flags: -G
// Without optimisation and with everything a debugger asks for.

struct Node { int key; double weight; Node *left; };

template <class T> __device__ T clamped(T x, T low, T high)
{
    T result = x;
    if (result < low)
        result = low;
    else if (result > high)
        result = high;
    return result;
}

__device__ int table[4] = {1, 2, 3, 4};

// run: debugged(in i32[333], out i32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void debugged(const int *a, int *c, int n)
{
    __shared__ int block_total;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        block_total = 0;
    __syncthreads();
    if (i < n)
        atomicAdd(&block_total, clamped(a[i], -50, 50));
    __syncthreads();
    if (i < n) {
        Node node = {a[i], 0.5 * a[i], nullptr};
        int local[3] = {1, node.key, block_total};
        for (int k = 0; k < 3; k++)
            local[k] += table[(i + k) % 4];
        c[i] = local[0] + local[1] * 2 + local[2] + (int)node.weight;
    }
}
