// ---- accesses of several elements

// Elements that are one access; of 8 bytes, four of them are two.
template <typename T, int Together> struct alignas(Together * sizeof(T) < 16 ? Together * sizeof(T) : 16) cf_group {
  T elements[Together];
};
template <typename T> using cf_four = cf_group<T, 4>;

// Reads Count elements, in fours that are Apart from each other.
template <int Together, int Count, int Apart, typename T>
__device__ __forceinline__ void cf_vectors(T *registers, const T *source)
{
  using group = cf_group<T, Together>;
#pragma unroll
  for (int from = 0; from < Count; from += Together) {
    const group found = *reinterpret_cast<const group *>(source + from / 4 * Apart + from % 4);
#pragma unroll
    for (int left = 0; left < Together; left++) registers[from + left] = found.elements[left];
  }
}

// Writes four elements.
template <int Together, typename T> __device__ __forceinline__ void cf_store_vector(T *target, const T *registers)
{
  using group = cf_group<T, Together>;
#pragma unroll
  for (int from = 0; from < 4; from += Together) {
    group stored;
#pragma unroll
    for (int left = 0; left < Together; left++) stored.elements[left] = registers[from + left];
    *reinterpret_cast<group *>(target + from) = stored;
  }
}
