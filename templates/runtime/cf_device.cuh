// What the generated kernels of comprehensive share: accesses of several elements, copies to shared memory that a
// thread need not wait for, and products on tensor cores.
//
// <program>.cu includes this file, which needs nothing but a compiler of CUDA. It is the same for all programs of one
// version of the tool.
#ifndef CF_DEVICE
#define CF_DEVICE 0
#if defined(CF_RUNTIME) && CF_RUNTIME != CF_DEVICE
#error "cf_device.cuh and cf_runtime.h are of different versions of comprehensive: generate both with one version"
#endif

// Dynamic shared memory, which has other names in templates than in functions of C: cf_smem and cf_shared. The
// stand-in for CUDA on a CPU has its own.
#ifndef CF_SHARED
#define CF_SHARED(name) extern __shared__ __align__(16) unsigned char name[]
#endif

// Threads of a multiprocessor: more blocks than have room for theirs cannot be asked for.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
#define CF_RESIDENT_THREADS 1024
#elif defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 880 || \
                                 __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1100)
#define CF_RESIDENT_THREADS 1536
#else
#define CF_RESIDENT_THREADS 2048
#endif
#define CF_BLOCKS(threads, blocks) \
  ((threads) * (blocks) <= CF_RESIDENT_THREADS ? (blocks) : CF_RESIDENT_THREADS / (threads))

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

// ---- copies from global to shared memory that a thread need not wait for

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define CF_ASYNCHRONOUS 1
#else
#define CF_ASYNCHRONOUS 0
#endif

template <int Bytes> __device__ __forceinline__ void cf_copy(void *shared, const void *global)
{
#if CF_ASYNCHRONOUS
  if (Bytes >= 4) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    constexpr int size = Bytes >= 4 ? Bytes : 4;
    if (Bytes == 16)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
    else
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(global), "n"(size) : "memory");
    return;
  }
#endif
  struct alignas(Bytes) element {
    unsigned char bytes[Bytes];
  };
  *static_cast<element *>(shared) = *static_cast<const element *>(global);
}

// Shared memory that many copies go to. Its address is computed once: from a pointer the compiler computes it at every
// copy, and asks each time where in its cluster the block is.
template <typename T> struct cf_target {
  T *shared;
  unsigned address = 0;

  __device__ __forceinline__ explicit cf_target(T *shared_) : shared(shared_)
  {
#if CF_ASYNCHRONOUS
    address = static_cast<unsigned>(__cvta_generic_to_shared(shared_));
    asm volatile("" : "+r"(address));
#endif
  }
};

// Copies so many Elements, which lie at an element of the target, if they are there; without a branch.
template <int Elements, typename T>
__device__ __forceinline__ void cf_copy_where(bool are_there, const cf_target<T> &target, int at, const T *global)
{
  constexpr int bytes = Elements * static_cast<int>(sizeof(T));
#if CF_ASYNCHRONOUS
  if (bytes >= 4) {
    constexpr int size = bytes >= 4 ? bytes : 4;
    const unsigned to = target.address + static_cast<unsigned>(at) * static_cast<unsigned>(sizeof(T));
    if (bytes == 16)
      asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p cp.async.cg.shared.global [%0], [%1], 16; }" ::"r"(to),
                   "l"(global), "r"(static_cast<int>(are_there))
                   : "memory");
    else
      asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p cp.async.ca.shared.global [%0], [%1], %3; }" ::"r"(to),
                   "l"(global), "r"(static_cast<int>(are_there)), "n"(size)
                   : "memory");
    return;
  }
#endif
  if (are_there) cf_copy<bytes>(target.shared + at, global);
}

__device__ __forceinline__ void cf_commit()
{
#if CF_ASYNCHRONOUS
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

template <int Pending> __device__ __forceinline__ void cf_await()
{
#if CF_ASYNCHRONOUS
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#endif
}

// Begins to copy `count` elements of a row to shared memory by the Lanes threads that share it; 16 bytes at a time
// where it begins at a multiple of them (Aligned).
template <bool Aligned, int Lanes, typename T>
__device__ __forceinline__ void cf_stage_row(T *shared, const T *row, int count, int lane)
{
  constexpr int size = static_cast<int>(sizeof(T)), together = Aligned ? 16 / size : 1;
#pragma unroll 4
  for (int at = lane * together; at <= count - together; at += Lanes * together)
    cf_copy<together * size>(shared + at, row + at);
  if (together > 1 && lane < count % together) {
    const int at = count / together * together + lane;
    cf_copy<size>(shared + at, row + at);
  }
}

// The value, of which the compiler no longer knows where it comes from: what is computed from it is computed again
// instead of being kept in registers, and a load that it comes from is not moved to its use, behind a branch.
#ifdef __CUDA_ARCH__
#define CF_OPAQUE(type, constraint)                     \
  __device__ __forceinline__ type cf_opaque(type value) \
  {                                                     \
    asm volatile("" : "+" constraint(value));           \
    return value;                                       \
  }
CF_OPAQUE(int, "r")
CF_OPAQUE(unsigned, "r")
CF_OPAQUE(long long, "l")
CF_OPAQUE(unsigned long long, "l")
CF_OPAQUE(float, "f")
CF_OPAQUE(double, "d")
#undef CF_OPAQUE
#endif
template <typename T> __device__ __forceinline__ T cf_opaque(T value) { return value; }

// The first step that a block does of a loop of 'most' steps, and how many it does, where its points ask for 'own'.
__device__ __forceinline__ int cf_block_first(int most, int own) { return own < 0 ? 0 : own < most ? own : most; }

__device__ __forceinline__ int cf_block_steps(int most, int own) { return own < 0 ? 0 : own < most ? own : most; }

// Where the rows of a piece are: one after the other, or where an array has their numbers, which is read for those that
// are there.
struct cf_in_order {
  long stride;
  __device__ __forceinline__ cf_in_order(long stride_) : stride(stride_) {}
  template <typename T> __device__ __forceinline__ const T *down(const T *from, int rows)
  {
    return from + rows * stride;
  }
  template <typename T> __device__ __forceinline__ const T *row(const T *from, int number, bool) const
  {
    return from + number * stride;
  }
};

template <typename Number> struct cf_looked_up {
  const Number *numbers;
  long stride;
  __device__ __forceinline__ cf_looked_up(const Number *first, long stride_) : numbers(first), stride(stride_) {}
  template <typename T> __device__ __forceinline__ const T *down(const T *from, int rows)
  {
    numbers += rows;
    return from;
  }
  template <typename T> __device__ __forceinline__ const T *row(const T *from, int number, bool is_there) const
  {
    return is_there ? from + static_cast<long>(numbers[number]) * stride : from;
  }
};

// Copies an array into shared memory by all Threads of the block, a piece of Rows x Columns elements at a time, each
// one Down rows and Right columns after the one before. Of the first piece the first `rows` and `columns` are there.
// The stride is from one row to the next. Where rows begin at multiples of 16 bytes (Together is 4), 16 bytes at a
// time, the last of a row with what follows in the same 16 bytes, in the same row of memory; so many elements at a time
// where they begin at multiples of these. Swizzled: 16 bytes of a row change places with others of the same 128, by
// row, so that threads that read down a column find different banks. In shared memory rows are Pitch elements apart.
// Where Right is negative the last `columns` of the first piece are there, and those before them.
template <typename T, int Together, int Rows, int Columns, bool Swizzled, int Down, int Right, int Threads,
          int Pitch = Columns, typename Rows_of = cf_in_order>
class cf_tiled_copy {
  static constexpr int size = static_cast<int>(sizeof(T)), vector = 16 / size;
  static constexpr bool vectors = Rows > 1 && Columns % vector == 0;
  static constexpr int width = !vectors ? 1 : Together == 4 ? vector : Together * size < 4 ? 1 : Together; // of a copy
  static constexpr bool whole = width == vector, narrow = width * size < 4; // narrow: copied through registers
  static constexpr int copies = Columns / width, along = copies % 32 == 0 ? 32 : copies;       // threads along a row
  static constexpr int together = !vectors ? 1 : whole || Swizzled ? vector : Columns / along; // elements of a thread
  static constexpr int groups = Columns / together, count = Rows * groups;
  static constexpr bool many = !whole || count > 2 * Threads;       // copies of a thread, of a piece
  static constexpr bool upright = Threads % groups == 0;            // a thread stays in its columns
  static constexpr int line = 128 / size;                           // elements among which groups change places
  static constexpr int each = upright ? Threads / groups : 1;       // rows of a turn
  static constexpr int turns = Swizzled && each < 8 ? 8 / each : 1; // after so many places are the same again
  static_assert(Pitch % width == 0, "vectors begin at multiples of their size");
  static_assert(!Swizzled ||
                    (upright && Columns % line == 0 && (groups & (groups - 1)) == 0 && (each & (each - 1)) == 0),
                "groups change places with bits of their numbers");
  static constexpr bool leftwards = Right < 0;
  const T *next;
  Rows_of rows_of;
  int rows, columns, thread; // columns: behind the last one that is there, leftwards the first one
  int places[turns];         // if swizzled: of the first element of the thread in a turn, without the rows of the turn

  __device__ __forceinline__ static int row_of(int number) { return number / groups; }
  __device__ __forceinline__ static int column_of(int number) { return number % groups * width; }
  __device__ __forceinline__ bool has(int column) const { return leftwards ? column >= columns : column < columns; }

public:
  __device__ __forceinline__ cf_tiled_copy(const T *first, Rows_of rows_of_, int rows_, int columns_, int thread_)
      : next(first), rows_of(rows_of_), rows(rows_), columns(leftwards ? Columns - columns_ : columns_), thread(thread_)
  {
    if (!upright) return;
    const int row = row_of(thread_), column = column_of(thread_);
    next = rows_of.down(next, row) + column;
    rows -= row;
    columns -= column;
#pragma unroll
    for (int turn = 0; turn < (Swizzled ? turns : 0); turn++)
      places[turn] = row * Pitch + (column ^ (row + turn * each) % 8 * vector);
  }

  __device__ __forceinline__ void stage(T *shared)
  {
    if (upright && !Swizzled) shared += row_of(thread) * Pitch + column_of(thread);
    if (narrow) {
      stage_narrow(shared);
    } else if (many) {
      stage_many(cf_target<T>(shared));
    } else { // branches and pointers take fewer registers than predicates and an address
#pragma unroll
      for (int from = 0; from < count; from += Threads) {
        const int number = upright ? from : from + thread, row = row_of(number), across = column_of(number);
        if ((count % Threads != 0 && from + thread >= count) || row >= rows) continue;
        int place = across;
        if (Swizzled) place = (places[from / Threads % turns] ^ across % line) + across / line * line;
        if (has(across)) cf_copy<16>(shared + row * Pitch + place, rows_of.row(next, row, true) + across);
      }
    }
    next = rows_of.down(next, Down) + Right;
    rows -= Down;
    columns -= Right;
  }

private:
  __device__ __forceinline__ void stage_many(const cf_target<T> &target)
  {
#pragma unroll
    for (int from = 0; from < count; from += Threads) {
      const int number = upright ? from : from + thread, row = row_of(number), column = column_of(number);
      const bool exists = (count % Threads == 0 || from + thread < count) && row < rows;
      const T *const begin = rows_of.row(next, row, exists && (leftwards || column < columns));
#pragma unroll
      for (int left = 0; left < together / width; left++) {
        const int across = column + left * groups * width;
        int place = across;
        if (Swizzled) place = (places[from / Threads % turns] ^ across % line) + across / line * line;
        cf_copy_where<width>(exists && has(across), target, row * Pitch + place, begin + across);
      }
    }
  }

  // Several elements are on their way to registers before the first of them is stored.
  __device__ __forceinline__ void stage_narrow(T *shared)
  {
    constexpr int all = (count + Threads - 1) / Threads * together, most = 16;
#pragma unroll
    for (int first = 0; first < all; first += most) {
      T held[most];
#pragma unroll
      for (int turn = 0; turn < 2; turn++) {
#pragma unroll
        for (int i = 0; i < most && first + i < all; i++) {
          const int from = (first + i) / together * Threads, number = upright ? from : from + thread;
          const int row = row_of(number), across = column_of(number) + (first + i) % together * groups;
          if ((count % Threads != 0 && from + thread >= count) || row >= rows || !has(across)) continue;
          int place = across;
          if (Swizzled) place = (places[from / Threads % turns] ^ across % line) + across / line * line;
          if (turn == 0)
            held[i] = rows_of.row(next, row, true)[across];
          else
            shared[row * Pitch + place] = held[i];
        }
      }
    }
  }
};

// The same for pieces beside each other, whose columns become rows in shared memory, Pitch elements apart: staged
// element by element, or Held, prefetched into registers where rows begin at multiples of 16 bytes and stored when
// there is time for it. Leftwards: each piece is before the one before it.
template <typename T, bool Held, int Rows, int Columns, int Pitch, int Threads, typename Rows_of = cf_in_order,
          bool Leftwards = false>
class cf_transposed_copy {
  static_assert(Columns % 4 == 0, "elements are fetched in fours");
  static constexpr int lanes = Held ? Columns / 4 : Columns < 8 ? Columns : 8; // threads along a row
  static_assert(Threads % lanes == 0 && Columns % lanes == 0, "a thread stays in its columns");
  static constexpr int each = Threads / lanes, turns = (Rows + each - 1) / each;
  const T *next;
  Rows_of rows_of;
  int rows, columns, row, place;
  cf_four<T> held[turns];

  __device__ __forceinline__ bool has(int column) const { return Leftwards ? column >= columns : column < columns; }

public:
  __device__ __forceinline__ cf_transposed_copy(const T *first, Rows_of rows_of_, int rows_, int columns_, int thread)
      : rows_of(rows_of_), row(thread / lanes)
  {
    const int column = thread % lanes * (Held ? 4 : 1);
    next = rows_of.down(first, row) + column;
    place = column * Pitch + row;
    rows = (Rows % each == 0 || rows_ < Rows ? rows_ : Rows) - row;
    columns = (Leftwards ? Columns - columns_ : columns_) - column;
  }

  __device__ __forceinline__ void stage(T *shared)
  {
    constexpr int across = Columns / lanes, all = turns * across, most = 16;
    const cf_target<T> target(shared + place);
#pragma unroll
    for (int first = 0; first < all; first += sizeof(T) < 4 ? most : all) {
      T brought[most];
      const T *begin = next;
#pragma unroll
      for (int turn = 0; turn < (sizeof(T) < 4 ? 2 : 1); turn++) {
#pragma unroll
        for (int i = 0; i < (sizeof(T) < 4 ? most : all) && first + i < all; i++) {
          const int down = (first + i) / across * each, right = (first + i) % across * lanes;
          const bool exists = down < rows && has(right);
          if (turn == 0 && (i == 0 || right == 0))
            begin = rows_of.row(next, down, down < rows && (Leftwards || 0 < columns));
          if (sizeof(T) >= 4)
            cf_copy_where<1>(exists, target, right * Pitch + down, begin + right);
          else if (turn == 0 && exists)
            brought[i] = begin[right];
          else if (exists)
            shared[place + right * Pitch + down] = brought[i];
        }
      }
    }
    go();
  }

  __device__ __forceinline__ void prefetch()
  {
#pragma unroll
    for (int turn = 0; turn < turns; turn++) {
      held[turn] = cf_four<T>{};
      if (turn * each < rows && has(0))
        held[turn] = *reinterpret_cast<const cf_four<T> *>(rows_of.row(next, turn * each, true));
    }
    go();
  }

  __device__ __forceinline__ void store(T *shared)
  {
#pragma unroll
    for (int turn = 0; turn < turns; turn++) {
      if (Rows % each != 0 && row + turn * each >= Rows) break;
#pragma unroll
      for (int left = 0; left < 4; left++) shared[place + left * Pitch + turn * each] = held[turn].elements[left];
    }
  }

private:
  __device__ __forceinline__ void go()
  {
    next += Leftwards ? -Columns : Columns;
    columns -= Leftwards ? -Columns : Columns;
  }
};

// Copies boxes of an array into shared memory by all Threads of the block, E0 x E1 x E2 x E3 elements each, of which
// the first n0 x n1 x n2 x n3 are there. Neighbours along axis k are s0, s1, s2 and 1 elements apart in global memory,
// P0 to P3 in shared memory, where one of these is 1. Where it is the last, Together elements are copied at once; else
// groups of eight threads along the last axis lie beside each other along that one, so that they find different banks.
template <typename T, int Together, int Threads, int E0, int E1, int E2, int E3, int P0, int P1, int P2, int P3>
class cf_box {
  static constexpr int size = static_cast<int>(sizeof(T));
  static constexpr bool turned = P3 != 1;
  static constexpr int together = turned || E3 < Together ? 1 : Together * size <= 16 ? Together : 16 / size;
  static constexpr int groups = E3 / together; // what is left of a row is copied element by element
  static constexpr int lanes = turned && groups > 8 ? 8 : groups, stripes = (groups + lanes - 1) / lanes;
  static constexpr int beside = !turned ? 1 : P2 == 1 ? E2 : P1 == 1 ? E1 : E0;
  static constexpr int count = E0 * E1 * E2 * lanes * stripes;
  static constexpr bool upright = Threads % lanes == 0; // a thread stays in its lane
  // and in a few of those beside
  static constexpr bool even = upright && beside % (upright ? Threads / lanes : 1) == 0;
  const long s0, s1, s2;
  const int thread;

public:
  __device__ __forceinline__ cf_box(long s0_, long s1_, long s2_, int thread_)
      : s0(s0_), s1(s1_), s2(s2_), thread(thread_)
  {
  }

  __device__ __forceinline__ void stage(T *shared, const T *first, int n0, int n1, int n2, int n3) const
  {
    stage_from([&](int i0, int i1, int i2, int i3) { return first + (i0 * s0 + i1 * s1 + i2 * s2 + i3); }, shared, n0,
               n1, n2, n3);
  }

  // The same of elements anywhere: source has the address of the one at each place.
  template <typename Source>
  __device__ __forceinline__ void stage_from(Source source, T *shared, int n0, int n1, int n2, int n3) const
  {
    constexpr bool narrow = together * size < 4; // through registers: several are on their way before one is stored
    constexpr int most = narrow ? 16 : 1;
    using group = cf_group<T, together>;
    const cf_target<T> target(shared);
    const unsigned self = cf_opaque(thread); // places are found anew: all of them would take too many registers
#pragma unroll
    for (int first = 0; first < count; first += most * Threads) {
      group held[most];
#pragma unroll
      for (int turn = 0; turn < (narrow ? 2 : 1); turn++) {
#pragma unroll
        for (int i = 0; i < most && first + i * Threads < count; i++) {
          const int from = first + i * Threads;
          const unsigned lane = (upright ? self : from + self) % lanes;
          const unsigned row = upright ? self / lanes + from / lanes : (from + self) / lanes;
          const unsigned across = even ? self / lanes + from / lanes % beside : row % beside;
          const unsigned stripe = even ? from / lanes / beside : row / beside, others = stripe / stripes;
          const unsigned i3 = (stripe % stripes * lanes + lane) * together;
          const unsigned i2 = turned && P2 == 1 ? across : others % E2;
          const unsigned above = turned && P2 == 1 ? others : others / E2;
          const unsigned i1 = turned && P2 != 1 && P1 == 1 ? across : above % E1;
          const unsigned i0 = turned && P2 != 1 && P1 != 1 ? across : turned && P2 != 1 ? above : above / E1;
          const bool exists = from + Threads <= count || from + self < count;
          const bool inside = int(i0) < n0 && int(i1) < n1 && int(i2) < n2 && int(i3) + together <= n3;
          const int at = i0 * P0 + i1 * P1 + i2 * P2 + i3 * P3;
          if (!narrow)
            cf_copy_where<together>(exists && inside, target, at, source(i0, i1, i2, i3));
          else if (exists && inside && turn == 0)
            held[i] = *reinterpret_cast<const group *>(source(i0, i1, i2, i3));
          else if (exists && inside)
            *reinterpret_cast<group *>(shared + at) = held[i];
        }
      }
    }
    if (n3 % together == 0) return;
    const int left = n3 % together;
#pragma unroll 1
    for (int number = thread; number < E0 * E1 * E2 * left; number += Threads) {
      const int row = number / left, i3 = n3 - left + number % left;
      const int i2 = row % E2, i1 = row / E2 % E1, i0 = row / E2 / E1;
      cf_copy_where<1>(i0 < n0 && i1 < n1 && i2 < n2, target, i0 * P0 + i1 * P1 + i2 * P2 + i3 * P3,
                       source(i0, i1, i2, i3));
    }
  }
};

// ---- products of doubles on tensor cores

// Whether a * b + c is one multiply-add in this file, as tensor cores compute it: the compiler contracts it unless it
// is told not to (-fmad=false), and no macro says so. False where there are no tensor cores for doubles.
__device__ __forceinline__ bool cf_contracts()
{
#if !defined(__CUDA_ARCH__)
  return true; // nothing to lose on a CPU, where sums are computed as the compiler is told to
#elif __CUDA_ARCH__ >= 800
  double factor = 1 + 1.0 / (1 << 30); // its square needs 61 bits
  asm volatile("" : "+d"(factor));
  double rest = factor * factor - (1 + 2.0 / (1 << 30));
  asm volatile("" : "+d"(rest));
  int contracts = rest != 0;
  asm volatile("" : "+r"(contracts)); // in a register from here on
  return contracts;
#else
  return false;
#endif
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
// 16 x 8 sums of a warp, eight steps: the same bits as multiply-adds one after the other, in the order of the steps.
__device__ __forceinline__ void cf_mma(double &c0, double &c1, double &c2, double &c3, double a0, double a1, double a2,
                                       double a3, double b0, double b1)
{
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
               "{ %0, %1, %2, %3}, { %4, %5, %6, %7}, { %8, %9}, { %0, %1, %2, %3};"
               : "+d"(c0), "+d"(c1), "+d"(c2), "+d"(c3)
               : "d"(a0), "d"(a1), "d"(a2), "d"(a3), "d"(b0), "d"(b1));
}
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
__device__ __forceinline__ void cf_mma(double &c0, double &c1, double a, double b)
{
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 { %0, %1}, { %2}, { %3}, { %0, %1};"
               : "+d"(c0), "+d"(c1)
               : "d"(a), "d"(b));
}

__device__ __forceinline__ void cf_mma(double &c0, double &c1, double &c2, double &c3, double a0, double a1, double a2,
                                       double a3, double b0, double b1)
{
  cf_mma(c0, c1, a0, b0);
  cf_mma(c2, c3, a1, b0);
  cf_mma(c0, c1, a2, b1);
  cf_mma(c2, c3, a3, b1);
}
#endif

// Adds eight steps to all sums of a warp of 8 x 4 threads. Thread (g, q) has sums of row 8 * i + g and column
// 8 * (j / 2) + 2 * q + j % 2; of a it has step 4 * e + q of row 8 * i + g, of b that step of column 8 * j + g.
template <typename Element, int Rows, int Columns>
__device__ __forceinline__ void cf_multiply_add(double (&sums)[Rows][Columns], const Element (&a)[Rows][2],
                                                const Element (&b)[Columns / 2][2])
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#pragma unroll
  for (int i = 0; i < Rows; i += 2)
#pragma unroll
    for (int j = 0; j < Columns; j += 2)
      cf_mma(sums[i][j], sums[i][j + 1], sums[i + 1][j], sums[i + 1][j + 1], a[i][0], a[i + 1][0], a[i][1], a[i + 1][1],
             b[j / 2][0], b[j / 2][1]);
#elif defined(CF_CUDA_ON_CPU_H)
  cf_cpu::multiply_add(sums, a, b);
#endif
}

// ---- products of 16-bit elements on tensor cores

// Whether there are tensor cores that do sixteen steps of them at a time.
__device__ __forceinline__ bool cf_multiplies_halves()
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  return true;
#else
  return false;
#endif
}

// Loads four matrices of 8 x 8 elements of a warp: its thread l says where row l % 8 of matrix l / 8 is, and thread
// (g, q) gets elements 2 * q and 2 * q + 1 of row g of each, or of column g where they are Turned.
template <bool Turned, typename T> __device__ __forceinline__ void cf_load_matrices(unsigned (&found)[4], const T *row)
{
#if defined(__CUDA_ARCH__)
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(row));
  if (Turned)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 { %0, %1, %2, %3}, [%4];"
                 : "=r"(found[0]), "=r"(found[1]), "=r"(found[2]), "=r"(found[3])
                 : "r"(at)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 { %0, %1, %2, %3}, [%4];"
                 : "=r"(found[0]), "=r"(found[1]), "=r"(found[2]), "=r"(found[3])
                 : "r"(at)
                 : "memory");
#elif defined(CF_CUDA_ON_CPU_H)
  cf_cpu::load_matrices<Turned>(found, row);
#endif
}

// 16 x 8 sums of a warp, sixteen steps: products are exact, and how a sum of them is rounded is the device's affair.
template <typename Element> struct cf_halves;
#define CF_HALVES(type, name)                                                                                      \
  template <> struct cf_halves<type> {                                                                             \
    __device__ __forceinline__ static void mma(float &c0, float &c1, float &c2, float &c3, const unsigned (&a)[4], \
                                               unsigned b0, unsigned b1)                                           \
    {                                                                                                              \
      asm("mma.sync.aligned.m16n8k16.row.col.f32." name "." name ".f32 "                                           \
          "{ %0, %1, %2, %3}, { %4, %5, %6, %7}, { %8, %9}, { %0, %1, %2, %3};"                                    \
          : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)                                                                 \
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                                         \
    }                                                                                                              \
  };
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#if defined(__CUDA_FP16_TYPES_EXIST__)
CF_HALVES(__half, "f16")
#endif
#if defined(__CUDA_BF16_TYPES_EXIST__)
CF_HALVES(__nv_bfloat16, "bf16")
#endif
#endif
#undef CF_HALVES

// Adds sixteen steps to all sums of a warp of 8 x 4 threads, from matrices of 16 rows of a and of 16 columns of b.
// Number m has of a the rows from 8 * (m % 2) and the steps from 8 * (m / 2) on, of b the columns from 8 * (m / 2) and
// the steps from 8 * (m % 2) on: what an instruction reads is then in registers beside each other.
template <typename Element, int Rows, int Columns>
__device__ __forceinline__ void cf_multiply_add(float (&sums)[Rows][Columns], const unsigned (&a)[Rows / 2][4],
                                                const unsigned (&b)[Columns / 4][4])
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#pragma unroll
  for (int i = 0; i < Rows; i += 2)
#pragma unroll
    for (int j = 0; j < Columns; j += 2)
      cf_halves<Element>::mma(sums[i][j], sums[i][j + 1], sums[i + 1][j], sums[i + 1][j + 1], a[i / 2],
                              b[j / 4][j / 2 % 2 * 2], b[j / 4][j / 2 % 2 * 2 + 1]);
#elif defined(CF_CUDA_ON_CPU_H)
  cf_cpu::multiply_add<Element>(sums, a, b);
#endif
}

// ---- products of bytes on tensor cores

// Whether there are tensor cores that do 32 steps of them at a time.
__device__ __forceinline__ bool cf_multiplies_bytes() { return cf_multiplies_halves(); }

// 16 x 8 sums of a warp, 32 steps: the same in any order.
template <typename Element> struct cf_bytes;
#define CF_BYTES(type, name)                                                                               \
  template <> struct cf_bytes<type> {                                                                      \
    __device__ __forceinline__ static void mma(int &c0, int &c1, int &c2, int &c3, const unsigned (&a)[4], \
                                               unsigned b0, unsigned b1)                                   \
    {                                                                                                      \
      asm("mma.sync.aligned.m16n8k32.row.col.s32." name "." name ".s32 "                                   \
          "{ %0, %1, %2, %3}, { %4, %5, %6, %7}, { %8, %9}, { %0, %1, %2, %3};"                            \
          : "+r"(c0), "+r"(c1), "+r"(c2), "+r"(c3)                                                         \
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                                 \
    }                                                                                                      \
  };
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
CF_BYTES(signed char, "s8")
CF_BYTES(char, "s8")
CF_BYTES(unsigned char, "u8")
#endif
#undef CF_BYTES

// Adds 32 steps to all sums of a warp of 8 x 4 threads: as of elements of 16 bits, with twice as many steps throughout.
template <typename Element, int Rows, int Columns>
__device__ __forceinline__ void cf_multiply_add(int (&sums)[Rows][Columns], const unsigned (&a)[Rows / 2][4],
                                                const unsigned (&b)[Columns / 4][4])
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#pragma unroll
  for (int i = 0; i < Rows; i += 2)
#pragma unroll
    for (int j = 0; j < Columns; j += 2)
      cf_bytes<Element>::mma(sums[i][j], sums[i][j + 1], sums[i + 1][j], sums[i + 1][j + 1], a[i / 2],
                             b[j / 4][j / 2 % 2 * 2], b[j / 4][j / 2 % 2 * 2 + 1]);
#elif defined(CF_CUDA_ON_CPU_H)
  cf_cpu::multiply_add<Element>(sums, a, b);
#endif
}

#endif
