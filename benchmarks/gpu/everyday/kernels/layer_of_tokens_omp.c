/* A layer over the tokens of several sequences, as inference engines in C have it. */
void layer_of_tokens_omp(int q, int t, int n, int k, const float *x, const float *w, const float *bias, float *y)
{
#pragma omp parallel for collapse(2)
  for (int p = 0; p < q; p++)
    for (int i = 0; i < t; i++) {
      const float *token = x + (p * t + i) * k;
      float *result = y + (p * t + i) * n;
      for (int j = 0; j < n; j++) {
        const float *row = w + j * k;
        float sum = bias[j];
        for (int l = 0; l < k; l++)
          sum += token[l] * row[l];
        result[j] = sum;
      }
    }
}
