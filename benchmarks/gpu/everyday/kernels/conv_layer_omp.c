/* A layer of a network, windows of 3 by 3, for OpenMP: q channels from p, the input already padded. */
void conv_layer_omp(int q, int p, int h, int w, const float in[p][h + 2][w + 2], const float k[q][p][3][3],
                    float out[q][h][w])
{
#pragma omp target teams distribute parallel for collapse(3)
  for (int o = 0; o < q; o++)
    for (int i = 0; i < h; i++)
      for (int j = 0; j < w; j++) {
        float sum = 0.0f;
        for (int c = 0; c < p; c++)
          for (int y = 0; y < 3; y++)
            for (int x = 0; x < 3; x++)
              sum += in[c][i + y][j + x] * k[o][c][y][x];
        out[o][i][j] = sum;
      }
}
