/* The kernel of the paper's figure 4, as printed: included once for each KERNEL0, with the macros B_0, B_1 and S that figure
   presupposes. B_0 is B0, B_1 is ub1*s and S is s; private_c holds the elements of a thread in registers.
   What is printed as `if (t1 < B0)` fills a tile of a only where B0 <= ub1, which the rows of table 1 obey. */
__global__ void KERNEL0(int *a, int *b, int *c, int n, int dim0, int dim1, int B0, int ub1, int s)
{
  int b0 = blockIdx.y, b1 = blockIdx.x;
  int t0 = threadIdx.y, t1 = threadIdx.x;
  int private_p, private_q;
  assert(B_0 == B0);
  assert(B_1 == ub1 * s);
  __shared__ int shared_a[B_0][B_0];
  __shared__ int shared_b[B_0][B_1];
  int private_c[1][S];
  assert(S == s);
  for (int c0 = b0; c0 < dim0; c0 += 256)
    for (int c1 = b1; c1 < dim1; c1 += 256) {
      private_p = ((c0) * (B0)) + (t0);
      private_q = ((c1) * (ub1 * s)) + (t1);
      for (int c5 = 0; c5 < S; c5 += 1)
        if (n >= private_p + 1 && n >= private_q + (c5) * (ub1) + 1)
          private_c[0][c5] = c[(private_p) * n + (private_q + (c5) * (ub1))];
      for (int c2 = 0; c2 < n / B0; c2 += 1) {
        if (t1 < B0 && n >= private_p + 1)
          shared_a[t0][t1] = a[(private_p) * n + (t1 + B0 * c2)];
        for (int c5 = 0; c5 < S; c5 += 1)
          if (t0 < B0 && n >= private_q + (c5) * (ub1) + 1)
            shared_b[t0][(c5) * (ub1) + t1] = b[(t0 + B0 * c2) * n + (private_q + (c5) * (ub1))];
        __syncthreads();
        for (int c6 = 0; c6 < B0; c6 += 1)
          for (int c5 = 0; c5 < S; c5 += 1)
            private_c[0][c5] += (shared_a[t0][c6] * shared_b[c6][c5 * ub1 + t1]);
        __syncthreads();
      }
      for (int c5 = 0; c5 < S; c5 += 1)
        if (n >= private_p + 1 && n >= private_q + (c5) * (ub1) + 1)
          c[(private_p) * n + (private_q + (c5) * (ub1))] = private_c[0][c5];
      __syncthreads();
    }
}
