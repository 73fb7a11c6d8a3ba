// Names: Unicode in comments (größer, 長い, ∑xᵢ² ≤ ε, "→"), strings and local names, very long ones, ones that look like PTX.
// nvcc takes no such letters in names of device functions, and ptxas none at all, not even in comments of inline PTX.

namespace a_namespace_with_a_name_that_is_long_enough_to_be_of_interest {
template <class First_type_parameter, class Second_type_parameter, int A_constant_parameter>
struct A_class_template_with_an_unusually_long_name {
    __device__ __noinline__ First_type_parameter
    a_member_function_whose_mangled_name_exceeds_every_reasonable_length(Second_type_parameter an_argument) const
    {
        return static_cast<First_type_parameter>(an_argument) + A_constant_parameter; // naïve — ça va
    }
};
} // namespace a_namespace_with_a_name_that_is_long_enough_to_be_of_interest

__device__ __noinline__ int minus(int δ) { int größe = δ - 1; return größe; /* наоборот */ }
__device__ char text[] = "größer → 長い";
__device__ int ret = 1, mov = 2, p0 = 3, r1 = 4, add_s32 = 5, $dollar = 6;
__device__ __noinline__ int bra(int x) { return x * ret + mov; }

// run: kernel_with_a_name_of_more_than_a_hundred_letters_because_some_generators_put_every_parameter_of_theirs_into_the_name_of_a_kernel(in i32[333], out i32[333], i32=333) grid=(3) block=(128)
extern "C" __global__ void
kernel_with_a_name_of_more_than_a_hundred_letters_because_some_generators_put_every_parameter_of_theirs_into_the_name_of_a_kernel(
    const int *a, int *c, int n)
{
    using namespace a_namespace_with_a_name_that_is_long_enough_to_be_of_interest;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    A_class_template_with_an_unusually_long_name<long long, short, 42> object;
    long long wide = object.a_member_function_whose_mangled_name_exceeds_every_reasonable_length((short)a[i]);
    c[i] = (int)wide + text[i % 16] + minus(a[i]) + bra(p0) + r1 + add_s32 + $dollar;
}

// run: __(out i32[1]) grid=(1) block=(1)
extern "C" __global__ void __(int *c) { c[0] = 1; }

// run: $entry(out i32[32]) grid=(1) block=(32)
extern "C" __global__ void $entry(int *c) { c[threadIdx.x] = threadIdx.x; }
