/* Serial C of what the tables time: the same blocking as the kernels, and plain loops over all. */
#ifndef SERIAL_H
#define SERIAL_H

#ifdef __cplusplus
extern "C" {
#endif

/* c += a * b as figure 3 says it without its keywords, with its blocks: B0 and ub1*s divide n. */
void serial_figure3(int n, const int *a, const int *b, int *c, int B0, int ub1, int s);

/* The same blocks, with the loop over a row of c innermost, where a compiler finds vectors. */
void serial_product(int n, const int *a, const int *b, int *c, int rows, int columns);

/* T steps of figure 7 on the halves of a. */
void serial_jacobi(int T, int N, int *a);

/* c[j][i] = a[i][j] in plain loops, and in blocks of rows x columns. */
void serial_transpose(int N, const float *a, float *c);
void serial_transpose_blocked(int N, const float *a, float *c, int rows, int columns);

#ifdef __cplusplus
}
#endif

#endif
