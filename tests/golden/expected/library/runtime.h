#ifndef CF_INTERFACE
#define CF_INTERFACE 2

/* What the program is to run on; cf_machine of a real device comes from <function>_machine(). */
typedef struct cf_machine {
  long long registers_per_thread; /* R_B: registers that one thread may use, in registers of 32 bits */
  long long shared_words_per_block; /* Z_B: shared memory that one thread block may use (opt-in limit), in words of 4 bytes */
  long long threads_per_block; /* T_B: threads of one thread block, in threads */
  long long registers_per_multiprocessor; /* R_SM: registers of one multiprocessor, in registers of 32 bits */
  long long shared_words_per_multiprocessor; /* Z_SM: shared memory of one multiprocessor, in words of 4 bytes */
  long long threads_per_multiprocessor; /* T_SM: threads resident on one multiprocessor, in threads */
  long long warps_per_multiprocessor; /* W_SM: warps resident on one multiprocessor, in warps */
  long long blocks_per_multiprocessor; /* B_SM: thread blocks resident on one multiprocessor, in thread blocks */
  long long registers_per_unit_of_a_warp; /* R_U: registers that a warp is given at a time, in registers of 32 bits */
  long long sub_partitions_per_multiprocessor; /* Q_SM: sub-partitions of one multiprocessor, in sub-partitions */
  long long shared_words_per_unit; /* Z_U: shared memory that a block is given at a time, in words of 4 bytes */
  long long shared_words_of_the_system_per_block; /* Z_0: shared memory that the system takes for a block, in words of 4 bytes */
  long long operations_per_word; /* O_W: operations while one word of global memory is moved, in operations */
  long long words_in_flight_per_multiprocessor; /* F_SM: words in flight that keep one multiprocessor busy, in words of 4 bytes */

  /* Speeds, by which tiles are ranked. */
  long long multiprocessors; /* multiprocessors of the device, in multiprocessors */
  long long issued_per_cycle; /* instructions of warps that a multiprocessor begins in a cycle, in instructions */
  long long wide_lanes; /* results of arithmetic on doubles in a cycle of a multiprocessor, in results */
  long long l2_bytes_per_kilocycle; /* between a multiprocessor and the second-level cache, all at work, in bytes */
  long long dram_bytes_per_kilocycle; /* between the device and its memory, in bytes */
  long long kept_bytes; /* data that stays in the second-level cache from launch to launch, in bytes */
  long long global_latency_cycles; /* from a load of global memory to its value, in cycles */
  long long shared_latency_cycles; /* from a load of shared memory to its value, in cycles */
  long long barrier_cycles; /* for a barrier at which all warps have arrived, in cycles */
  long long warp_start_cycles; /* between the starts of warps on a multiprocessor, in cycles */
  long long block_cycles; /* for the first instructions and the end of a block, in cycles */
  long long turn_cycles; /* from the end of a block to the first instruction of the next, in cycles */
  long long launch_cycles; /* for a launch that follows another one, in cycles */
} cf_machine;

enum {
  CF_OK = 0,
  CF_ENOVARIANT = 1,    /* no variant of the kernel fits into the machine */
  CF_EPARAMETER = 2,    /* a program parameter is less than 1, a size is negative, or there is no such tile */
  CF_EPRECONDITION = 3, /* an assertion of the program does not hold */
  CF_EOVERFLOW = 4,     /* a size is too large to be computed with */
  CF_ELIMIT = 5,        /* the launch exceeds a limit of the device or of the compiled kernel */
  CF_ECUDA = 6          /* the CUDA runtime reported an error; `needed` is its number */
};

#define CF_NO_LEAF (-1)

/* What was decided, or why nothing was: the condition that does not hold, what it needs and what is there. */
typedef struct cf_choice {
  int leaf; /* number of the leaf, then of tiles, as in the manifest, of the last region that ran; CF_NO_LEAF: none did */
  int status;
  const char *constraint;
  long long needed;
  long long available;
  long long cycles; /* that launches of tiles were expected to take, all together; those of leaves are not counted */
} cf_choice;

static inline const char *cf_strerror(int status)
{
  switch (status) {
  case CF_OK: return "success";
  case CF_ENOVARIANT: return "no variant of the kernel fits into the machine";
  case CF_EPARAMETER: return "a program parameter is less than 1, a size is negative, or there is no such tile";
  case CF_EPRECONDITION: return "an assertion of the program does not hold";
  case CF_EOVERFLOW: return "a size is too large to be computed with";
  case CF_ELIMIT: return "the launch exceeds a limit of the device or of the compiled kernel";
  case CF_ECUDA: return "the CUDA runtime reported an error";
  default: return "unknown status";
  }
}

static inline int cf_report(cf_choice *choice, int status, int leaf, const char *constraint, long long needed,
                            long long available)
{
  if (choice) {
    choice->leaf = leaf;
    choice->status = status;
    choice->constraint = constraint;
    choice->needed = needed;
    choice->available = available;
    choice->cycles = 0;
  }
  return status;
}

/* Counts: non-negative, the largest one stands for itself and everything above. */
typedef unsigned long long cf_count;
#define CF_SATURATED (~0ULL)

static inline cf_count cf_plus(cf_count a, cf_count b)
{
  return a > CF_SATURATED - b ? CF_SATURATED : a + b;
}

static inline cf_count cf_times(cf_count a, cf_count b)
{
  if ((a | b) >> 32 == 0) return a * b;
  return a != 0 && b > CF_SATURATED / a ? CF_SATURATED : a * b;
}

static inline cf_count cf_minus(cf_count a, cf_count b)
{
  return a > b ? a - b : 0;
}

static inline cf_count cf_down(cf_count a, cf_count b)
{
  return a == CF_SATURATED || b == 0 ? CF_SATURATED : a / b;
}

static inline cf_count cf_up(cf_count a, cf_count b)
{
  return a == CF_SATURATED || b == 0 ? CF_SATURATED : a / b + (a % b != 0);
}

static inline cf_count cf_amount(long long limit)
{
  return limit > 0 ? (cf_count)limit : 0;
}

static inline long long cf_shown(cf_count value)
{
  return value > 0x7fffffffffffffffULL ? 0x7fffffffffffffffLL : (long long)value;
}

/* Integers as C has them, in 64 bit; CF_UNDEFINED stands for what overflows or is divided by zero. */
#define CF_LARGEST 0x7fffffffffffffffLL
#define CF_UNDEFINED (-CF_LARGEST - 1)
#define CF_BOTH(a, b) ((a) != CF_UNDEFINED && (b) != CF_UNDEFINED)

static inline long long cf_add(long long a, long long b)
{
  if (!CF_BOTH(a, b)) return CF_UNDEFINED;
  if (b > 0 ? a > CF_LARGEST - b : a < -CF_LARGEST - b) return CF_UNDEFINED;
  return a + b;
}

static inline long long cf_neg(long long a) { return a == CF_UNDEFINED ? a : -a; }
static inline long long cf_abs(long long a) { return a < 0 ? cf_neg(a) : a; }
static inline long long cf_sub(long long a, long long b) { return cf_add(a, cf_neg(b)); }

static inline long long cf_mul(long long a, long long b)
{
  if (!CF_BOTH(a, b)) return CF_UNDEFINED;
  if (a != 0 && cf_abs(b) > CF_LARGEST / cf_abs(a)) return CF_UNDEFINED;
  return a * b;
}

static inline long long cf_div(long long a, long long b)
{
  return CF_BOTH(a, b) && b != 0 ? a / b : CF_UNDEFINED;
}

static inline long long cf_mod(long long a, long long b)
{
  return CF_BOTH(a, b) && b != 0 ? a % b : CF_UNDEFINED;
}

static inline long long cf_shl(long long a, long long b)
{
  return b >= 0 && b < 63 ? cf_mul(a, 1LL << b) : CF_UNDEFINED;
}

static inline long long cf_shr(long long a, long long b)
{
  if (a == CF_UNDEFINED || b < 0 || b > 62) return CF_UNDEFINED;
  return a >= 0 ? a >> b : -((-a - 1) >> b) - 1;
}

static inline long long cf_bit_not(long long a) { return a == CF_UNDEFINED ? a : -a - 1; }
static inline long long cf_bit_and(long long a, long long b) { return CF_BOTH(a, b) ? a & b : CF_UNDEFINED; }
static inline long long cf_bit_or(long long a, long long b) { return CF_BOTH(a, b) ? a | b : CF_UNDEFINED; }
static inline long long cf_bit_xor(long long a, long long b) { return CF_BOTH(a, b) ? a ^ b : CF_UNDEFINED; }
static inline long long cf_lt(long long a, long long b) { return CF_BOTH(a, b) ? a < b : CF_UNDEFINED; }
static inline long long cf_le(long long a, long long b) { return CF_BOTH(a, b) ? a <= b : CF_UNDEFINED; }
static inline long long cf_gt(long long a, long long b) { return cf_lt(b, a); }
static inline long long cf_ge(long long a, long long b) { return cf_le(b, a); }
static inline long long cf_eq(long long a, long long b) { return CF_BOTH(a, b) ? a == b : CF_UNDEFINED; }
static inline long long cf_ne(long long a, long long b) { return CF_BOTH(a, b) ? a != b : CF_UNDEFINED; }
static inline long long cf_not(long long a) { return a == CF_UNDEFINED ? a : !a; }

static inline long long cf_if(long long condition, long long then, long long otherwise)
{
  if (condition == CF_UNDEFINED) return CF_UNDEFINED;
  return condition ? then : otherwise;
}

static inline long long cf_and(long long a, long long b) { return cf_if(a, cf_ne(b, 0), 0); }
static inline long long cf_or(long long a, long long b) { return cf_if(a, 1, cf_ne(b, 0)); }

static inline long long cf_to_int(long long a)
{
  return a < -0x80000000LL || a > 0x7fffffffLL ? CF_UNDEFINED : a;
}

static inline long long cf_to_unsigned(long long a)
{
  return a == CF_UNDEFINED ? a : (long long)((cf_count)a & 0xffffffffULL);
}

static inline long long cf_to_unsigned_long(long long a)
{
  return a < 0 ? CF_UNDEFINED : a; /* 2 to the 64th and less than it is beyond all sizes */
}

static inline long long cf_to_unsigned_bits(long long a, int bits)
{
  return a == CF_UNDEFINED ? a : (long long)((cf_count)a & ((1ULL << bits) - 1));
}

static inline long long cf_to_signed_bits(long long a, int bits)
{
  const long long low = cf_to_unsigned_bits(a, bits);
  return low >> (bits - 1) > 0 ? low - (1LL << bits) : low;
}

static inline long long cf_signed(cf_count a)
{
  return a > (cf_count)CF_LARGEST ? CF_UNDEFINED : (long long)a;
}

/* An assertion of the program. */
static inline int cf_check(cf_choice *choice, long long condition, const char *text, long long needed, long long available)
{
  if (condition == CF_UNDEFINED) return cf_report(choice, CF_EOVERFLOW, CF_NO_LEAF, text, 0, 0);
  return condition ? CF_OK : cf_report(choice, CF_EPRECONDITION, CF_NO_LEAF, text, needed, available);
}

/* A condition of the case discussion, `needed relation available`. */
enum { CF_AT_MOST, CF_LESS, CF_EQUAL };
enum {
  CF_ROOM,  /* bounds what is needed by what the machine has */
  CF_RULE,  /* speaks of parameters and sizes alone */
  CF_SCARCE /* holds where the machine has too little: what another variant is for */
};

typedef struct cf_fact {
  const char *text;
  int kind;
  int holds; /* -1 where both sides are too large to tell */
  cf_count needed;
  cf_count available;
} cf_fact;

static inline cf_fact cf_compare(const char *text, int kind, cf_count needed, int relation, cf_count available)
{
  cf_fact fact;
  fact.text = text;
  fact.kind = kind;
  fact.needed = needed;
  fact.available = available;
  if (needed == CF_SATURATED && available == CF_SATURATED) fact.holds = -1;
  else if (relation == CF_AT_MOST) fact.holds = needed <= available;
  else if (relation == CF_LESS) fact.holds = needed < available;
  else fact.holds = needed == available;
  return fact;
}

/* Variants: for each its leaf, the number of its conditions, and these. The first that holds is chosen. Where none
   does, the refusal cites the condition that keeps out of the variant that is nearest: its needs exceed what is
   there by the smallest factor. A leaf below 0 is a case without a variant; it is cited only for lack of better. */
static inline int cf_decide(const cf_fact *facts, const short *variants, int length, const char *const *dead_ends,
                            cf_choice *choice)
{
  const cf_fact *cited = 0;
  const char *dead_end = "no case of the discussion holds";
  double smallest = 0;
  int overflow = 0, at = 0;
  while (at < length) {
    const int leaf = variants[at], end = at + 2 + variants[at + 1];
    const cf_fact *worst = 0;
    double excess = 0;
    int holds = 1, unknown = 0;
    for (at += 2; at < end; at++) {
      const cf_fact *fact = &facts[variants[at]];
      double ratio;
      if (fact->holds == 1) continue;
      if (fact->holds < 0) {
        unknown = 1;
        continue;
      }
      holds = 0;
      ratio = ((double)fact->needed + 1) / ((double)fact->available + 1);
      if (fact->kind != CF_SCARCE && (worst == 0 || ratio > excess)) {
        worst = fact;
        excess = ratio;
      }
    }
    if (holds && unknown) overflow = 1;
    else if (holds && leaf < 0) dead_end = dead_ends[-1 - leaf];
    else if (holds) return cf_report(choice, CF_OK, leaf, "", 0, 0);
    if (leaf >= 0 && worst != 0 && (cited == 0 || excess < smallest)) {
      cited = worst;
      smallest = excess;
    }
  }
  if (overflow) return cf_report(choice, CF_EOVERFLOW, CF_NO_LEAF, "the conditions fit into 64 bits", 0, 0);
  if (cited == 0) return cf_report(choice, CF_ENOVARIANT, CF_NO_LEAF, dead_end, 0, 0);
  return cf_report(choice, CF_ENOVARIANT, CF_NO_LEAF, cited->text, cf_shown(cited->needed), cf_shown(cited->available));
}

/* The number-th value to try in the place of `wanted`, 0 where there is none: the closest ones come first. */
static inline long long cf_neighbour(long long wanted, int number)
{
  static const signed char moves[] = { 0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6, 7, 8, 9, 10, 11, 12, 13,
                                       14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30 };
  static const int count = (int)sizeof moves;
  if (number == 0) return wanted;
  if (number <= 2) return wanted - number; /* small decrements */
  number -= 2;
  if (number >= count) return 0;
  if (moves[number] > 0) return wanted >> moves[number];
  return wanted <= 0x40000000LL >> -moves[number] ? wanted << -moves[number] : 0;
}

/* 2^|log2(a / b)| for positive a and b: a product of these orders as the sum of the logarithms does. */
static inline double cf_distance(long long a, long long b)
{
  return a > b ? (double)a / (double)b : (double)b / (double)a;
}

/* The order of candidates for default parameters: lexicographic, less is better. */
static inline int cf_precedes(const long long *a, const long long *b)
{
  int at = 0;
  while (at < 4 && a[at] == b[at]) at++;
  return a[at] < b[at];
}

/* How long a launch takes, from what its blocks do and a few speeds of the device: to rank tiles by, no more. All counts
   are of a block, instructions those of warps; times are in cycles. */
typedef struct cf_work {
  cf_count instructions, wide, wavefronts, bytes, waits, shared_waits, barriers, depth;
} cf_work;

typedef struct cf_tile_work {
  cf_work once, step;         /* of a tile, and of each step of its serial loop or sweep */
  cf_work cut_once, cut_step; /* where the limits cut the tile */
  cf_count warps, registers, shared_words;
  cf_count ahead; /* steps by which copies are begun before they are waited for */
} cf_tile_work;

typedef struct cf_extent {
  cf_count blocks, steps, bytes; /* bytes: of all data, each once */
  int is_cut;
} cf_extent;

static inline cf_count cf_most(cf_count a, cf_count b) { return a > b ? a : b; }
static inline cf_count cf_least(cf_count a, cf_count b) { return a < b ? a : b; }
static inline cf_count cf_speed(long long speed) { return speed > 0 ? (cf_count)speed : 1; }

/* A number of blocks, steps or bytes; what is undefined is more than anything. */
static inline cf_count cf_number_of(long long value) { return value == CF_UNDEFINED ? CF_SATURATED : cf_amount(value); }

/* How many tiles there are up to a limit, the first of which begins `before` values before 0. */
static inline cf_count cf_tiles(long long limit, long long before, long long step)
{
  const cf_count values = cf_number_of(cf_add(limit, before));
  return values / (cf_count)step + (values % (cf_count)step != 0);
}

/* Blocks of the kernel that are on a multiprocessor together. */
static inline cf_count cf_resident(const cf_machine *machine, const cf_tile_work *work)
{
  const cf_count parts = cf_speed(machine->sub_partitions_per_multiprocessor);
  const cf_count unit = cf_speed(machine->registers_per_unit_of_a_warp);
  const cf_count taken = cf_times(cf_up(cf_times(work->registers, 32), unit), unit);
  const cf_count granule = cf_speed(machine->shared_words_per_unit);
  const cf_count words = cf_times(
      cf_up(cf_plus(work->shared_words, cf_amount(machine->shared_words_of_the_system_per_block)), granule), granule);
  cf_count blocks = cf_amount(machine->registers_per_multiprocessor) / parts / cf_most(1, taken) * parts / work->warps;
  if (words) blocks = cf_least(blocks, cf_amount(machine->shared_words_per_multiprocessor) / words);
  blocks = cf_least(blocks, cf_amount(machine->threads_per_multiprocessor) / (work->warps * 32));
  return cf_least(blocks, cf_amount(machine->blocks_per_multiprocessor));
}

/* Cycles of a block that has the multiprocessor for itself. */
static inline cf_count cf_alone(const cf_machine *machine, const cf_tile_work *work, const cf_work *done)
{
  const cf_count issued = cf_most(done->instructions / cf_speed(machine->issued_per_cycle),
                                  cf_times(done->instructions, 3) / (2 * work->warps));
  const cf_count busy = cf_most(cf_most(issued, done->wavefronts), cf_times(done->depth, 4));
  cf_count waiting = cf_times(done->waits, cf_speed(machine->global_latency_cycles));
  waiting = cf_plus(waiting, cf_times(done->shared_waits, cf_speed(machine->shared_latency_cycles)));
  waiting = cf_plus(waiting, cf_times(done->barriers, cf_speed(machine->barrier_cycles)));
  return cf_plus(waiting, busy);
}

/* Cycles of a block where the multiprocessor is full: those of the unit that is the slowest. While a block meets at a
   barrier or waits for shared memory only the other ones that are there begin instructions. */
static inline cf_count cf_throughput(const cf_machine *machine, const cf_tile_work *work, cf_count steps, cf_count resident)
{
  const cf_work *once = &work->once, *step = &work->step;
  const cf_count instructions = cf_plus(once->instructions, cf_times(steps, step->instructions));
  const cf_count wide = cf_plus(once->wide, cf_times(steps, step->wide));
  const cf_count wavefronts = cf_plus(once->wavefronts, cf_times(steps, step->wavefronts));
  const cf_count bytes = cf_plus(once->bytes, cf_times(steps, step->bytes));
  const cf_count shared_waits = cf_plus(once->shared_waits, cf_times(steps, step->shared_waits));
  const cf_count barriers = cf_plus(once->barriers, cf_times(steps, step->barriers));
  const cf_count idle = cf_plus(cf_times(shared_waits, cf_speed(machine->shared_latency_cycles)),
                                cf_times(barriers, cf_speed(machine->barrier_cycles)));
  cf_count cycles = cf_plus(instructions / cf_speed(machine->issued_per_cycle), idle / resident);
  cycles = cf_most(cycles, wavefronts);
  cycles = cf_most(cycles, cf_times(wide, 32) / cf_speed(machine->wide_lanes));
  cycles = cf_most(cycles, cf_times(bytes, 1000) / cf_speed(machine->l2_bytes_per_kilocycle));
  return cf_most(cycles, cf_times(cf_speed(machine->warp_start_cycles), work->warps));
}

/* Cycles from launch to end; CF_SATURATED where not even one block fits. */
static inline cf_count cf_cost(const cf_machine *machine, const cf_tile_work *work, const cf_extent *launch)
{
  const cf_count multiprocessors = cf_speed(machine->multiprocessors), held = cf_resident(machine, work);
  const cf_count busiest = launch->blocks / multiprocessors + (launch->blocks % multiprocessors != 0);
  const cf_count resident = cf_most(1, cf_least(held, busiest));
  const cf_count copies = work->ahead ? cf_speed(machine->global_latency_cycles) / work->ahead : 0;
  const cf_count first = cf_plus(cf_speed(machine->block_cycles), cf_alone(machine, work, &work->once));
  const cf_count step = cf_most(cf_alone(machine, work, &work->step), copies);
  const cf_count alone = cf_plus(first, cf_times(launch->steps, step));
  cf_count cycles;
  if (held < 1) return CF_SATURATED;
  if (busiest <= 4 * resident) cycles = cf_times(busiest / resident + (busiest % resident != 0), alone);
  else cycles = cf_times(busiest, cf_plus(alone, cf_speed(machine->turn_cycles))) / resident;
  cycles = cf_most(cycles, cf_times(busiest, cf_throughput(machine, work, launch->steps, resident)));
  if (launch->is_cut) {
    const cf_count cut = cf_plus(cf_speed(machine->block_cycles), cf_alone(machine, work, &work->cut_once));
    cycles = cf_most(cycles, cf_plus(cut, cf_times(launch->steps, cf_alone(machine, work, &work->cut_step))));
  }
  if (launch->bytes > cf_speed(machine->kept_bytes))
    cycles = cf_most(cycles, cf_times(launch->bytes, 1000) / cf_speed(machine->dram_bytes_per_kilocycle));
  return cf_plus(cf_speed(machine->launch_cycles), cycles);
}

/* A tile with what it costs to launch it, and the sweeps that it does then; number 0: none. */
typedef struct cf_tiling {
  int number, sweeps;
  cf_count cost;
} cf_tiling;

static inline void cf_consider(cf_tiling *best, int number, int sweeps, cf_count cost)
{
  if (cost == CF_SATURATED) return;
  if (best->number && cf_times(best->cost, (cf_count)sweeps) <= cf_times(cost, (cf_count)best->sweeps)) return;
  best->number = number;
  best->sweeps = sweeps;
  best->cost = cost;
}

/* An odd number of sweeps from 3 to `most`, so that few launches do `sweeps` of them (at least 3), all about alike. */
static inline int cf_sweeps_at_once(long long sweeps, int most)
{
  long long launches = sweeps / most + (sweeps % most != 0);
  launches += (launches + sweeps) % 2; /* of odd numbers */
  return sweeps < 3 * launches ? 3 : (int)(sweeps / launches | 1);
}

/* The limit of a coordinate, from which a tile may go on by some thousands in int. */
static inline long long cf_limit(long long limit)
{
  return limit <= 0x7fffffffLL - 0xffffLL ? limit : CF_UNDEFINED;
}

/* Speeds of architectures, ten times the compute capability first, in the order of cf_machine. What a device tells of
   itself takes their place; an architecture that is not there has those of the last one before it. */
static inline void cf_set_speeds(cf_machine *machine, int compute_capability)
{
  static const long long speeds[][14] = {
    { 75, 68, 4, 2, 20000, 350000, 4000000, 600, 30, 30, 40, 500, 400, 2300 },
    { 80, 108, 4, 32, 24000, 960000, 30000000, 600, 30, 30, 40, 500, 400, 2300 },
    { 86, 82, 4, 2, 20000, 480000, 4500000, 600, 30, 30, 40, 500, 400, 2300 },
    { 87, 16, 4, 2, 20000, 137000, 3000000, 600, 30, 30, 40, 500, 400, 2300 },
    { 88, 16, 4, 2, 20000, 137000, 3000000, 600, 30, 30, 40, 500, 400, 2300 },
    { 89, 128, 4, 2, 20000, 348000, 54000000, 600, 30, 30, 40, 500, 400, 2300 },
    { 90, 132, 4, 64, 24000, 1500000, 40000000, 600, 30, 30, 40, 500, 400, 2300 },
    { 100, 148, 4, 64, 24000, 3760000, 100000000, 600, 30, 30, 40, 500, 400, 2300 },
    { 103, 148, 4, 2, 24000, 3760000, 100000000, 600, 30, 30, 40, 500, 400, 2300 },
    { 110, 20, 4, 2, 20000, 150000, 24000000, 600, 30, 30, 40, 500, 400, 2300 },
    { 120, 170, 4, 2, 20000, 650000, 72000000, 600, 30, 30, 40, 500, 400, 2300 },
    { 121, 48, 4, 2, 20000, 99000, 18000000, 600, 30, 30, 40, 500, 400, 2300 },
  };
  int row = (int)(sizeof speeds / sizeof speeds[0]) - 1;
  while (row > 0 && speeds[row][0] > compute_capability) row--;
  machine->multiprocessors = speeds[row][1];
  machine->issued_per_cycle = speeds[row][2];
  machine->wide_lanes = speeds[row][3];
  machine->l2_bytes_per_kilocycle = speeds[row][4];
  machine->dram_bytes_per_kilocycle = speeds[row][5];
  machine->kept_bytes = speeds[row][6];
  machine->global_latency_cycles = speeds[row][7];
  machine->shared_latency_cycles = speeds[row][8];
  machine->barrier_cycles = speeds[row][9];
  machine->warp_start_cycles = speeds[row][10];
  machine->block_cycles = speeds[row][11];
  machine->turn_cycles = speeds[row][12];
  machine->launch_cycles = speeds[row][13];
}

#elif CF_INTERFACE != 2
#error "headers of two incompatible versions of comprehensive are included together; generate both with one version"
#endif
