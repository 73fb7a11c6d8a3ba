// Templates: recursion, packs, specialisations, constants, members.

template <int N> struct Power {
    template <class T> __device__ static T of(T x) { return x * Power<N - 1>::of(x); }
};
template <> struct Power<0> {
    template <class T> __device__ static T of(T) { return T(1); }
};

template <class... Ts> __device__ auto sum(Ts... xs) { return (xs + ...); }
template <class T, class... Ts> __device__ T largest(T first, Ts... rest)
{
    if constexpr (sizeof...(rest) == 0)
        return first;
    else {
        T other = largest(static_cast<T>(rest)...);
        return first > other ? first : other;
    }
}
template <class T, int N> struct Fixed {
    T values[N];
    __device__ T &operator[](int i) { return values[i]; }
    template <class F> __device__ void each(F f)
    {
        for (int i = 0; i < N; i++)
            f(values[i], i);
    }
};
__host__ __device__ constexpr int binomial(int n, int k) { return k == 0 || k == n ? 1 : binomial(n - 1, k - 1) + binomial(n - 1, k); }

template <class T, int N> __global__ void polynomial(const T *a, T *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = Power<N>::of(a[i]) + T(binomial(N, 2));
}
template __global__ void polynomial<float, 3>(const float *, float *, int);
template __global__ void polynomial<double, 5>(const double *, double *, int);
template __global__ void polynomial<unsigned short, 7>(const unsigned short *, unsigned short *, int);

// run: packs(in f32[333], in i32[333] -999..999, out f32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void packs(const float *a, const int *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Fixed<float, 4> fixed = {{a[i], 1, 2, 3}};
    fixed.each([&](float &x, int k) { x = x * k + b[i]; });
    c[i] = sum(a[i], b[i], 2.0f, (short)i) + largest(a[i], b[i], 0.5) + fixed[i & 3] + Power<4>::of(a[i]);
}
