// flags: -rdc=true
// One of several translation units: functions and variables that are elsewhere, and some that others may use. Not run.

extern __device__ int elsewhere(int x, double y);
extern __device__ float table_elsewhere[];
extern __constant__ double limit;
typedef int (*Callback)(int);
extern __device__ Callback callback;

__device__ int visible_counter = 3;
__device__ int for_others(int x) { return x * visible_counter; }
__device__ int (*exported)(int) = for_others;
template <class T> __device__ T weak(T x) { return x + x; }
template __device__ long weak<long>(long);
inline __device__ int weak_too(int x) { return x - 1; }

extern "C" __global__ void linked(const int *a, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    c[i] = elsewhere(a[i], limit) + (int)table_elsewhere[i] + callback(a[i]) + for_others(i) + weak_too(a[i]);
}
