// Kernels of CUB, as material for readers of SASS: sorts, scans, reductions, selections, histograms.
#include <cub/cub.cuh>
#include <cuda/std/functional>

template <typename Key, typename Value>
void sorts(void *t, size_t &n, Key *a, Value *v, int m) {
  cub::DeviceRadixSort::SortPairs(t, n, a, a, v, v, m);
  cub::DeviceMergeSort::SortPairs(t, n, a, v, m, cuda::std::less<>{});
}

template <typename Item>
void sums(void *t, size_t &n, Item *a, int *k, int m) {
  cub::DeviceReduce::Sum(t, n, a, a, m);
  cub::DeviceScan::InclusiveSum(t, n, a, a, m);
  cub::DeviceSelect::Unique(t, n, a, a, k, m);
  cub::DeviceReduce::ReduceByKey(t, n, k, k, a, a, k, cuda::std::plus<>{}, m);
}

void all(void *t, size_t &n, unsigned *u, unsigned long long *l, float *f, double *d, unsigned char *c, int *k, int m) {
  sorts(t, n, u, k, m);
  sorts(t, n, l, d, m);
  sums(t, n, f, k, m);
  sums(t, n, d, k, m);
  sums(t, n, l, k, m);
  cub::DeviceHistogram::HistogramEven(t, n, c, k, 257, 0, 256, m);
}
