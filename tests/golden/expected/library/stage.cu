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

// Begins to copy `count` elements of a row to shared memory by the Lanes threads that share it; 16 bytes at a time where it
// begins at a multiple of them (Aligned).
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
// instead of being kept in registers.
__device__ __forceinline__ int cf_again(int value)
{
#ifdef __CUDA_ARCH__
  asm volatile("" : "+r"(value));
#endif
  return value;
}

// Copies an array into shared memory by all Threads of the block, a piece of Rows x Columns elements at a time, each one
// Down rows and Right columns after the one before. Of the first piece the first `rows` and `columns` are there. The
// stride is from one row to the next. Where rows begin at multiples of 16 bytes (Aligned), 16 bytes at a time, the last of
// a row with what follows in the same 16 bytes, in the same row of memory. Swizzled: 16 bytes of a row change places with
// others of the same 128, by row, so that threads that read down a column find different banks.
template <typename T, bool Aligned, int Rows, int Columns, bool Swizzled, int Down, int Right, int Threads> class cf_feed {
  static constexpr int size = static_cast<int>(sizeof(T));
  static constexpr bool vectors = Rows > 1 && Columns % (16 / size) == 0;
  static constexpr bool whole = Aligned && vectors;
  static constexpr int together = vectors ? 16 / size : 1; // elements, side by side or a group apart
  static constexpr int groups = Columns / together, count = Rows * groups;
  static constexpr bool upright = Threads % groups == 0; // a thread stays in its columns
  static constexpr int line = 128 / size;                // elements among which groups change places
  static constexpr int each = upright ? Threads / groups : 1; // rows of a turn
  static constexpr int turns = Swizzled && each < 8 ? 8 / each : 1; // after so many places are the same again
  static_assert(!Swizzled || (upright && Columns % line == 0 && (groups & (groups - 1)) == 0 && (each & (each - 1)) == 0),
      "groups change places with bits of their numbers");
  const T *next;
  long stride;
  int rows, columns, thread;
  int places[turns]; // if swizzled: of the first element of the thread in a turn, without the rows of the turn

  __device__ __forceinline__ static int row_of(int number) { return number / groups; }
  __device__ __forceinline__ static int column_of(int number) { return number % groups * (whole ? together : 1); }

public:
  __device__ __forceinline__ cf_feed(const T *first, long stride, int rows, int columns, int thread)
      : next(first), stride(stride), rows(rows), columns(columns), thread(thread)
  {
    if (!upright) return;
    const int row = row_of(thread), column = column_of(thread);
    next += row * stride + column;
    this->rows -= row;
    this->columns -= column;
#pragma unroll
    for (int turn = 0; turn < (Swizzled ? turns : 0); turn++)
      places[turn] = row * Columns + (column ^ (row + turn * each) % 8 * (16 / size));
  }

  __device__ __forceinline__ void stage(T *shared)
  {
    if (upright && !Swizzled) shared += row_of(thread) * Columns + column_of(thread);
#pragma unroll
    for (int from = 0; from < count; from += Threads) {
      const int number = upright ? from : from + thread, row = row_of(number), column = column_of(number);
      if ((count % Threads != 0 && from + thread >= count) || row >= rows) continue;
#pragma unroll
      for (int left = 0; left < (whole ? 1 : together); left++) {
        const int across = column + left * groups;
        int place = across;
        if (Swizzled) place = (places[from / Threads % turns] ^ across % line) + across / line * line;
        if (across < columns)
          cf_copy<whole ? 16 : size>(shared + row * Columns + place, next + row * stride + across);
      }
    }
    next += Down * stride + Right;
    rows -= Down;
    columns -= Right;
  }
};

// The same for pieces beside each other, whose columns become rows in shared memory, Pitch elements apart: staged element
// by element, or Held, fetched into registers where rows begin at multiples of 16 bytes and put when there is time for it.
template <typename T, bool Held, int Rows, int Columns, int Pitch, int Threads> class cf_turned_feed {
  static_assert(Columns % 4 == 0, "elements are fetched in fours");
  static constexpr int lanes = Held ? Columns / 4 : Columns < 8 ? Columns : 8; // threads along a row
  static_assert(Threads % lanes == 0 && Columns % lanes == 0, "a thread stays in its columns");
  static constexpr int each = Threads / lanes, turns = (Rows + each - 1) / each;
  const T *next;
  long stride;
  int rows, columns, row, place;
  cf_four<T> held[turns];

public:
  __device__ __forceinline__ cf_turned_feed(const T *first, long stride, int rows, int columns, int thread)
      : stride(stride), row(thread / lanes)
  {
    const int column = thread % lanes * (Held ? 4 : 1);
    next = first + row * stride + column;
    place = column * Pitch + row;
    this->rows = (Rows % each == 0 || rows < Rows ? rows : Rows) - row;
    this->columns = columns - column;
  }

  __device__ __forceinline__ void stage(T *shared)
  {
#pragma unroll
    for (int down = 0; down < Rows; down += each)
#pragma unroll
      for (int right = 0; right < Columns; right += lanes)
        if (down < rows && right < columns)
          cf_copy<static_cast<int>(sizeof(T))>(
              shared + place + right * Pitch + down, next + down * stride + right);
    go();
  }

  __device__ __forceinline__ void fetch()
  {
#pragma unroll
    for (int turn = 0; turn < turns; turn++) {
      held[turn] = cf_four<T>{};
      if (turn * each < rows && 0 < columns)
        held[turn] = *reinterpret_cast<const cf_four<T> *>(next + turn * each * stride);
    }
    go();
  }

  __device__ __forceinline__ void put(T *shared)
  {
#pragma unroll
    for (int turn = 0; turn < turns; turn++) {
      if (Rows % each != 0 && row + turn * each >= Rows) break;
#pragma unroll
      for (int left = 0; left < 4; left++)
        shared[place + left * Pitch + turn * each] = held[turn].elements[left];
    }
  }

private:
  __device__ __forceinline__ void go()
  {
    next += Columns;
    columns -= Columns;
  }
};
