// Products of small matrices by the interface of C++. Whole numbers: the sums are exact in every order.
#include <mma.h>
using namespace nvcuda;

// run: wmma_half(in f16[256] whole -4..4, in f16[256] whole -4..4, in f32[256] whole -9..9, out f32[256]) grid=(1) block=(32)
extern "C" __global__ void wmma_half(const __half *a, const __half *b, const float *c, float *d)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::load_matrix_sync(fc, c, 16, wmma::mem_row_major);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; i++)
        fc.x[i] *= 2;
    wmma::store_matrix_sync(d, fc, 16, wmma::mem_row_major);
}

// run: wmma_bytes(in i8[128] -9..9, in i8[512] -9..9, out i32[256]) grid=(1) block=(32)
extern "C" __global__ void wmma_bytes(const signed char *a, const signed char *b, int *d)
{
    wmma::fragment<wmma::matrix_a, 8, 32, 16, signed char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 32, 16, signed char, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 8, 32, 16, int> fc;
    wmma::fill_fragment(fc, 5);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 32);
    wmma::mma_sync(fc, fa, fb, fc, true);
    wmma::store_matrix_sync(d, fc, 32, wmma::mem_row_major);
}
