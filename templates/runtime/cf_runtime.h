/* What the generated headers of comprehensive share, in plain C99 and C++11: machines and choices, the comparison of a
   case with a machine, integers that say where they overflow, and what launches cost.

   <program>.h includes this file; it needs no other one, and no CUDA. It is the same for all programs of one version of
   the tool, and headers of one program are of one version: each of them compares CF_RUNTIME. */
#ifndef CF_RUNTIME
#define CF_RUNTIME 0

#define CF_INTERFACE 4 /* raised with every change of a structure that callers see */

/* What the program is to run on; cf_machine of a real device comes from <function>_machine(). */
typedef struct cf_machine {
  long long registers_per_thread; /* R_B: registers that one thread may use, in registers of 32 bits */
  /* Z_B: shared memory that one thread block may use (opt-in limit), in words of 4 bytes */
  long long shared_words_per_block;
  long long threads_per_block;               /* T_B: threads of one thread block, in threads */
  long long registers_per_multiprocessor;    /* R_SM: registers of one multiprocessor, in registers of 32 bits */
  long long shared_words_per_multiprocessor; /* Z_SM: shared memory of one multiprocessor, in words of 4 bytes */
  long long threads_per_multiprocessor;      /* T_SM: threads resident on one multiprocessor, in threads */
  long long warps_per_multiprocessor;        /* W_SM: warps resident on one multiprocessor, in warps */
  long long blocks_per_multiprocessor;       /* B_SM: thread blocks resident on one multiprocessor, in thread blocks */
  long long registers_per_unit_of_a_warp; /* R_U: registers that a warp is given at a time, in registers of 32 bits */
  long long sub_partitions_per_multiprocessor; /* Q_SM: sub-partitions of one multiprocessor, in sub-partitions */
  long long shared_words_per_unit; /* Z_U: shared memory that a block is given at a time, in words of 4 bytes */
  /* Z_0: shared memory that the system takes for a block, in words of 4 bytes */
  long long shared_words_of_the_system_per_block;
  long long operations_per_word; /* O_W: operations while one word of global memory is moved, in operations */
  /* F_SM: words in flight that keep one multiprocessor busy, in words of 4 bytes */
  long long words_in_flight_per_multiprocessor;

  /* Speeds, by which tiles and leaves are ranked. */
  long long multiprocessors;  /* multiprocessors of the device, in multiprocessors */
  long long issued_per_cycle; /* instructions of warps that a multiprocessor begins in a cycle, in instructions */
  long long wide_lanes;       /* results of arithmetic on doubles in a cycle of a multiprocessor, in results */
  /* multiply-adds of doubles by tensor cores in a cycle of a multiprocessor, 1 without them, in results */
  long long wide_tensor_lanes;
  /* multiply-adds of 16-bit elements by tensor cores in a cycle of a multiprocessor, 1 without them, in results */
  long long half_tensor_lanes;
  long long l2_bytes_per_kilocycle;   /* between a multiprocessor and the second-level cache, all at work, in bytes */
  long long dram_bytes_per_kilocycle; /* between the device and its memory, in bytes */
  long long kept_bytes;               /* data that stays in the second-level cache from launch to launch, in bytes */
  long long global_latency_cycles;    /* from a load of global memory to its value, in cycles */
  long long shared_latency_cycles;    /* from a load of shared memory to its value, in cycles */
  long long barrier_cycles;           /* for a barrier at which all warps have arrived, in cycles */
  long long warp_start_cycles;        /* between the starts of warps on a multiprocessor, in cycles */
  long long block_cycles;             /* for the first instructions and the end of a block, in cycles */
  long long turn_cycles;              /* from the end of a block to the first instruction of the next, in cycles */
  long long launch_cycles;            /* for a launch that follows another one, in cycles */
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
  /* number of the leaf, then of tiles, as in the manifest, of the last region that ran; CF_NO_LEAF: none did */
  int leaf;
  int status;
  const char *constraint;
  long long needed;
  long long available;
  long long cycles;   /* that launches were expected to take, all together */
  long long left_out; /* points of the regions that the parameters leave out, all launches together */
  int candidate;      /* which of those that are tried has run: 0 the original */
  /* how far the search for the best version is, or why there is none; empty where none is asked for */
  const char *adaptation;
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
    choice->left_out = 0;
    choice->candidate = 0;
    choice->adaptation = "";
  }
  return status;
}

/* Counts: non-negative, the largest one stands for itself and everything above. */
typedef unsigned long long cf_count;
#define CF_SATURATED (~0ULL)

static inline cf_count cf_plus(cf_count a, cf_count b) { return a > CF_SATURATED - b ? CF_SATURATED : a + b; }

static inline cf_count cf_times(cf_count a, cf_count b)
{
  if ((a | b) >> 32 == 0) return a * b;
  return a != 0 && b > CF_SATURATED / a ? CF_SATURATED : a * b;
}

static inline cf_count cf_minus(cf_count a, cf_count b) { return a > b ? a - b : 0; }

static inline cf_count cf_down(cf_count a, cf_count b) { return a == CF_SATURATED || b == 0 ? CF_SATURATED : a / b; }

static inline cf_count cf_up(cf_count a, cf_count b)
{
  return a == CF_SATURATED || b == 0 ? CF_SATURATED : a / b + (a % b != 0);
}

static inline cf_count cf_amount(long long limit) { return limit > 0 ? (cf_count)limit : 0; }

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
static inline long long cf_fewer(long long a, long long b) { return a < b ? a : b; }
static inline long long cf_more(long long a, long long b) { return a > b ? a : b; }
static inline long long cf_sub(long long a, long long b) { return cf_add(a, cf_neg(b)); }

static inline long long cf_mul(long long a, long long b)
{
  if (!CF_BOTH(a, b)) return CF_UNDEFINED;
  if (a != 0 && cf_abs(b) > CF_LARGEST / cf_abs(a)) return CF_UNDEFINED;
  return a * b;
}

static inline long long cf_div(long long a, long long b) { return CF_BOTH(a, b) && b != 0 ? a / b : CF_UNDEFINED; }

static inline long long cf_mod(long long a, long long b) { return CF_BOTH(a, b) && b != 0 ? a % b : CF_UNDEFINED; }

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

static inline long long cf_to_int(long long a) { return a < -0x80000000LL || a > 0x7fffffffLL ? CF_UNDEFINED : a; }

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

static inline long long cf_signed(cf_count a) { return a > (cf_count)CF_LARGEST ? CF_UNDEFINED : (long long)a; }

/* Whether two names of devices are the same. */
static inline int cf_is_named(const char *device, const char *name)
{
  while (*device != 0 && *device == *name) {
    device++;
    name++;
  }
  return *device == *name;
}

/* An assertion of the program. */
static inline int cf_check(cf_choice *choice, long long condition, const char *text, long long needed,
                           long long available)
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
  if (needed == CF_SATURATED && available == CF_SATURATED)
    fact.holds = -1;
  else if (relation == CF_AT_MOST)
    fact.holds = needed <= available;
  else if (relation == CF_LESS)
    fact.holds = needed < available;
  else
    fact.holds = needed == available;
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
    if (holds && unknown)
      overflow = 1;
    else if (holds && leaf < 0)
      dead_end = dead_ends[-1 - leaf];
    else if (holds)
      return cf_report(choice, CF_OK, leaf, "", 0, 0);
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
  static const signed char moves[] = { 0,  1,  -1, 2,  -2, 3,  -3, 4,  -4, 5,  -5, 6,  -6, 7,  8,  9,  10, 11, 12,
                                       13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30 };
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

/* Sizes that the cost model knows of a device. */
#define CF_WARP_THREADS 32
#define CF_BANKS 32        /* of shared memory */
#define CF_WORD_BYTES 4    /* of a bank */
#define CF_LINE_BYTES 128  /* of the first-level cache */
#define CF_SECTOR_BYTES 32 /* of the second-level cache */
#define CF_MOST_DEEP 64    /* threads of a block along z */

/* What was fitted to measured times (machine/cost.py, machine/sites.py). */
#define CF_LEAST_STARTS 4
#define CF_LINES_TOGETHER 2
#define CF_BEGUN 8
#define CF_WAITED 3
#define CF_MOST_APART 2
#define CF_LINES_A_WAIT 128
#define CF_SHARED_INSTRUCTIONS 2
#define CF_GLOBAL_INSTRUCTIONS 3
#define CF_MOST_LOOPS 8 /* around an access */

/* How long a launch takes, from what its blocks do and a few speeds of the device: to rank tiles by, no more. All
   counts are of a block, instructions those of warps; times are in cycles. */
typedef struct cf_work {
  cf_count instructions, wide, wavefronts, bytes, waits, shared_waits, barriers, depth;
} cf_work;

typedef struct cf_tile_work {
  cf_work once, step;         /* of a tile, and of each whole step of its serial loop, or sweep */
  cf_work part, kiloturn;     /* of a step that is not whole, and of 1000 of its turns */
  cf_work cut_once, cut_step; /* where the limits cut the tile */
  cf_count warps, registers, shared_words;
  cf_count ahead; /* steps by which copies are begun before they are waited for */
} cf_tile_work;

/* 0: tiles on tensor cores are left out, as is best where kernels are compiled with -fmad=false. */
#ifndef CF_TENSOR_CORES
#define CF_TENSOR_CORES 1
#endif

typedef struct cf_extent {
  cf_count blocks, steps;
  cf_count parts, turns; /* steps that are not whole, and the turns of the serial loop that these are */
  cf_count bytes;        /* of all data, each once */
  int is_cut;
  int tensor_cores; /* the bytes of the elements that tensor cores multiply, 0 where there is nothing for them */
  cf_count more;    /* steps of the longest block beyond those, where blocks differ */
} cf_extent;

static inline cf_count cf_product(const cf_count *three) { return cf_times(three[0], cf_times(three[1], three[2])); }
static inline cf_count cf_most(cf_count a, cf_count b) { return a > b ? a : b; }
static inline cf_count cf_least(cf_count a, cf_count b) { return a < b ? a : b; }
static inline cf_count cf_rounded_up(cf_count a, cf_count b) { return a / b + (a % b != 0); }
static inline cf_count cf_speed(long long speed) { return speed > 0 ? (cf_count)speed : 1; }

/* A number of blocks, steps or bytes; what is undefined is more than anything. */
static inline cf_count cf_number_of(long long value) { return value == CF_UNDEFINED ? CF_SATURATED : cf_amount(value); }

/* How many tiles there are up to a limit, the first of which begins `before` values before 0. */
static inline cf_count cf_tiles(long long limit, long long before, long long step)
{
  const cf_count values = cf_number_of(cf_add(limit, before));
  return values / (cf_count)step + (values % (cf_count)step != 0);
}

/* ---- printed from machine/cost.py, up to the next such line: python -m tests.printed_cost */
/* Blocks of a kernel that are on a multiprocessor together; 0 where one does not fit. */
static inline cf_count cf_resident(const cf_machine *machine, cf_count warps, cf_count registers, cf_count words)
{
  const cf_count warps_per_multiprocessor = cf_amount(machine->warps_per_multiprocessor);
  const cf_count by_warps = warps_per_multiprocessor / warps;
  const cf_count blocks_per_multiprocessor = cf_amount(machine->blocks_per_multiprocessor);
  const cf_count registers_per_unit_of_a_warp = cf_speed(machine->registers_per_unit_of_a_warp);
  const cf_count registers_of_a_warp = cf_times(
      cf_rounded_up(cf_times(cf_most(1, registers), 32), registers_per_unit_of_a_warp), registers_per_unit_of_a_warp);
  const cf_count sub_partitions_per_multiprocessor = cf_speed(machine->sub_partitions_per_multiprocessor);
  const cf_count registers_per_multiprocessor = cf_amount(machine->registers_per_multiprocessor);
  const cf_count by_registers =
      cf_times(sub_partitions_per_multiprocessor,
               registers_per_multiprocessor / cf_times(sub_partitions_per_multiprocessor, registers_of_a_warp)) /
      warps;
  const cf_count shared_words_of_the_system_per_block = cf_amount(machine->shared_words_of_the_system_per_block);
  const cf_count shared_words_per_unit = cf_speed(machine->shared_words_per_unit);
  const cf_count words_of_a_block =
      cf_times(cf_rounded_up(cf_plus(cf_most(1, words), shared_words_of_the_system_per_block), shared_words_per_unit),
               shared_words_per_unit);
  const cf_count shared_words_per_multiprocessor = cf_amount(machine->shared_words_per_multiprocessor);
  const cf_count by_shared_memory = shared_words_per_multiprocessor / words_of_a_block;
  return cf_least(cf_least(cf_least(by_warps, blocks_per_multiprocessor), by_registers), by_shared_memory);
}

/* Cycles from launch to end; CF_SATURATED where not even one block fits. */
static inline cf_count cf_cost(const cf_machine *machine, const cf_tile_work *work, const cf_extent *launch)
{
  const cf_count held = cf_resident(machine, work->warps, work->registers, work->shared_words);
  const cf_count multiprocessors = cf_speed(machine->multiprocessors);
  const cf_count busiest = cf_rounded_up(launch->blocks, multiprocessors);
  const cf_count resident = cf_most(1, cf_least(held, busiest));
  const cf_count dram_bytes_per_kilocycle = cf_speed(machine->dram_bytes_per_kilocycle);
  const cf_count kept_bytes = cf_speed(machine->kept_bytes);
  const cf_count memory = launch->bytes > kept_bytes ? cf_times(launch->bytes, 1000) / dram_bytes_per_kilocycle : 0;
  const cf_count global_latency_cycles = cf_speed(machine->global_latency_cycles);
  const cf_count copies = work->ahead ? global_latency_cycles / cf_most(1, work->ahead) : 0;
  const cf_count block_cycles = cf_speed(machine->block_cycles);
  const cf_count shared_latency_cycles = cf_speed(machine->shared_latency_cycles);
  const cf_count barrier_cycles = cf_speed(machine->barrier_cycles);
  const cf_count once_waits = cf_plus(cf_plus(cf_times(work->once.waits, global_latency_cycles),
                                              cf_times(work->once.shared_waits, shared_latency_cycles)),
                                      cf_times(work->once.barriers, barrier_cycles));
  const cf_count issued_per_cycle = cf_speed(machine->issued_per_cycle);
  const cf_count once_busy = cf_most(cf_most(work->once.instructions / issued_per_cycle, work->once.wavefronts),
                                     cf_times(work->once.depth, 4));
  const cf_count first = cf_plus(block_cycles, cf_plus(once_waits, once_busy));
  const cf_count step_waits = cf_plus(cf_plus(cf_times(work->step.waits, global_latency_cycles),
                                              cf_times(work->step.shared_waits, shared_latency_cycles)),
                                      cf_times(work->step.barriers, barrier_cycles));
  const cf_count step_busy = cf_most(cf_most(work->step.instructions / issued_per_cycle, work->step.wavefronts),
                                     cf_times(work->step.depth, 4));
  const cf_count step = cf_most(cf_plus(step_waits, step_busy), copies);
  const cf_count part_waits = cf_plus(cf_plus(cf_times(work->part.waits, global_latency_cycles),
                                              cf_times(work->part.shared_waits, shared_latency_cycles)),
                                      cf_times(work->part.barriers, barrier_cycles));
  const cf_count part_busy = cf_most(cf_most(work->part.instructions / issued_per_cycle, work->part.wavefronts),
                                     cf_times(work->part.depth, 4));
  const cf_count part = cf_most(cf_plus(part_waits, part_busy), copies);
  const cf_count kiloturn_waits = cf_plus(cf_plus(cf_times(work->kiloturn.waits, global_latency_cycles),
                                                  cf_times(work->kiloturn.shared_waits, shared_latency_cycles)),
                                          cf_times(work->kiloturn.barriers, barrier_cycles));
  const cf_count kiloturn_busy =
      cf_most(cf_most(work->kiloturn.instructions / issued_per_cycle, work->kiloturn.wavefronts),
              cf_times(work->kiloturn.depth, 4));
  const cf_count turns = cf_times(launch->turns, cf_plus(kiloturn_waits, kiloturn_busy)) / 1000;
  const cf_count alone =
      cf_plus(cf_plus(cf_plus(first, cf_times(launch->steps, step)), cf_times(launch->parts, part)), turns);
  const cf_count turn_cycles = cf_speed(machine->turn_cycles);
  const cf_count longer = cf_times(launch->more, step);
  const cf_count blocks_wait = busiest > cf_times(4, resident)
                                   ? cf_times(busiest, cf_plus(alone, turn_cycles)) / resident
                                   : cf_times(cf_rounded_up(busiest, resident), alone);
  const cf_count latency = cf_plus(blocks_wait, longer);
  const cf_count cut_once_waits = cf_plus(cf_plus(cf_times(work->cut_once.waits, global_latency_cycles),
                                                  cf_times(work->cut_once.shared_waits, shared_latency_cycles)),
                                          cf_times(work->cut_once.barriers, barrier_cycles));
  const cf_count cut_once_busy =
      cf_most(cf_most(work->cut_once.instructions / issued_per_cycle, work->cut_once.wavefronts),
              cf_times(work->cut_once.depth, 4));
  const cf_count cut_first = cf_plus(block_cycles, cf_plus(cut_once_waits, cut_once_busy));
  const cf_count cut_step_waits = cf_plus(cf_plus(cf_times(work->cut_step.waits, global_latency_cycles),
                                                  cf_times(work->cut_step.shared_waits, shared_latency_cycles)),
                                          cf_times(work->cut_step.barriers, barrier_cycles));
  const cf_count cut_step_busy =
      cf_most(cf_most(work->cut_step.instructions / issued_per_cycle, work->cut_step.wavefronts),
              cf_times(work->cut_step.depth, 4));
  const cf_count cut_step = cf_plus(cut_step_waits, cut_step_busy);
  const cf_count cut =
      launch->is_cut
          ? cf_plus(cf_plus(cf_plus(cut_first, cf_times(launch->steps, cut_step)), cf_times(launch->parts, part)),
                    turns)
          : 0;
  const cf_count instructions =
      cf_plus(cf_plus(cf_plus(work->once.instructions, cf_times(launch->steps, work->step.instructions)),
                      cf_times(launch->parts, work->part.instructions)),
              cf_times(launch->turns, work->kiloturn.instructions) / 1000);
  const cf_count wide = cf_plus(cf_plus(cf_plus(work->once.wide, cf_times(launch->steps, work->step.wide)),
                                        cf_times(launch->parts, work->part.wide)),
                                cf_times(launch->turns, work->kiloturn.wide) / 1000);
  const cf_count wavefronts =
      cf_plus(cf_plus(cf_plus(work->once.wavefronts, cf_times(launch->steps, work->step.wavefronts)),
                      cf_times(launch->parts, work->part.wavefronts)),
              cf_times(launch->turns, work->kiloturn.wavefronts) / 1000);
  const cf_count bytes = cf_plus(cf_plus(cf_plus(work->once.bytes, cf_times(launch->steps, work->step.bytes)),
                                         cf_times(launch->parts, work->part.bytes)),
                                 cf_times(launch->turns, work->kiloturn.bytes) / 1000);
  const cf_count shared_waits =
      cf_plus(cf_plus(cf_plus(work->once.shared_waits, cf_times(launch->steps, work->step.shared_waits)),
                      cf_times(launch->parts, work->part.shared_waits)),
              cf_times(launch->turns, work->kiloturn.shared_waits) / 1000);
  const cf_count barriers = cf_plus(cf_plus(cf_plus(work->once.barriers, cf_times(launch->steps, work->step.barriers)),
                                            cf_times(launch->parts, work->part.barriers)),
                                    cf_times(launch->turns, work->kiloturn.barriers) / 1000);
  const cf_count idle =
      cf_plus(cf_times(shared_waits, shared_latency_cycles), cf_times(barriers, barrier_cycles)) / resident;
  const cf_count l2_bytes_per_kilocycle = cf_speed(machine->l2_bytes_per_kilocycle);
  const cf_count wide_tensor_lanes = cf_speed(machine->wide_tensor_lanes);
  const cf_count half_tensor_lanes = cf_speed(machine->half_tensor_lanes);
  const cf_count wide_lanes = cf_speed(machine->wide_lanes);
  const cf_count lanes =
      launch->tensor_cores ? launch->tensor_cores > 2 ? wide_tensor_lanes : half_tensor_lanes : wide_lanes;
  const cf_count multiplied = cf_times(wide, 32) / lanes;
  const cf_count accesses = launch->tensor_cores ? 0 : wide ? wavefronts : 0;
  const cf_count warp_start_cycles = cf_speed(machine->warp_start_cycles);
  const cf_count instructions_busy = cf_times(busiest, cf_plus(instructions / issued_per_cycle, idle));
  const cf_count cores_busy = cf_times(busiest, cf_plus(multiplied, accesses));
  const cf_count unit_busy = cf_times(busiest, wavefronts);
  const cf_count cache_busy = cf_times(busiest, cf_times(bytes, 1000) / l2_bytes_per_kilocycle);
  const cf_count warps_busy = cf_times(busiest, cf_times(warp_start_cycles, cf_most(4, work->warps)));
  const cf_count slowest = cf_most(
      cf_most(cf_most(cf_most(cf_most(cf_most(cf_most(latency, cut), instructions_busy), cores_busy), unit_busy),
                      cache_busy),
              warps_busy),
      memory);
  const cf_count together = cf_plus(
      cf_plus(cf_plus(cf_plus(cf_plus(cf_plus(cf_plus(latency, cut), instructions_busy), cores_busy), unit_busy),
                      cache_busy),
              warps_busy),
      memory);
  const cf_count divisor = slowest > memory ? resident > 1 ? cf_least(cf_times(resident, work->warps), 16) : 16 : 16;
  const cf_count launch_cycles = cf_speed(machine->launch_cycles);
  return held ? cf_plus(launch_cycles, cf_plus(slowest, (together - slowest) / divisor)) : CF_SATURATED;
}
/* ---- the end of what is printed */

/* A tile with what it costs to launch it, and the sweeps that it does then; number 0: the leaf. */
typedef struct cf_tiling {
  int number, sweeps;
  cf_count cost;
} cf_tiling;

static inline void cf_consider(cf_tiling *best, int number, int sweeps, cf_count cost)
{
  if (cost == CF_SATURATED) return;
  if (best->cost != CF_SATURATED && cf_times(best->cost, (cf_count)sweeps) <= cf_times(cost, (cf_count)best->sweeps))
    return;
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
  const long long cf_most = 0x7fffffffLL - 0xffffLL;
  return limit <= cf_most && limit >= -cf_most ? limit : CF_UNDEFINED;
}

/* What a block of a leaf does, from tables of its code and numbers that are known at the launch. An access is an affine
   walk: elements between neighbouring threads, turns and blocks. Members that name a number are positions among these.
 */
typedef struct cf_context {
  short parent, turns, is_loop, instructions, wide;
} cf_context;

typedef struct cf_region {
  short context, round, depth, barriers;
} cf_region;

typedef struct cf_access {
  short context, region, array, bytes, stores, is_shared;
  short threads[3], extents[3], grid[3];
  /* where pairs of a context and a step begin, and origins, up to -1 */
  short loops, loop_count, origins, origin_count;
} cf_access;

typedef struct cf_sites {
  const cf_context *contexts;
  const cf_region *regions;
  const cf_access *accesses;
  const short *loops, *origins;
  int context_count, region_count, access_count;
} cf_sites;

/* Extents of the grid and of a block, x first, and what a block takes. */
typedef struct cf_leaf_shape {
  long long grid[3], block[3];
  cf_count registers, shared_words;
} cf_leaf_shape;

/* A block in the middle of the grid; `runs` says how often each context is done, `keeps` in which the first-level cache
   keeps what a turn touches. */
typedef struct cf_block {
  const cf_machine *machine;
  const cf_sites *sites;
  const long long *numbers;
  cf_count grid[3], extents[3], registers, words;
  cf_count *runs;
  unsigned char *keeps;
} cf_block;

/* The steps of a walk: so many bytes from each of so many places to the next one. */
typedef struct cf_step {
  cf_count bytes, places;
} cf_step;

typedef struct cf_steps {
  cf_step steps[CF_MOST_LOOPS + 6];
  int count;
} cf_steps;

static inline void cf_append(cf_steps *walk, cf_count bytes, cf_count places)
{
  walk->steps[walk->count].bytes = bytes;
  walk->steps[walk->count++].places = places;
}

/* The shortest step first. */
static inline cf_steps cf_sorted(cf_steps walk)
{
  int k, at;
  for (k = 1; k < walk.count; k++) {
    const cf_step step = walk.steps[k];
    for (at = k; at > 0 && (walk.steps[at - 1].bytes > step.bytes ||
                            (walk.steps[at - 1].bytes == step.bytes && walk.steps[at - 1].places > step.places));
         at--)
      walk.steps[at] = walk.steps[at - 1];
    walk.steps[at] = step;
  }
  return walk;
}

typedef struct cf_block_work {
  cf_work once;
  cf_count data; /* bytes of all data of the launch, each once a way */
} cf_block_work;

/* ---- printed from machine/sites.py, up to the next such line: python -m tests.printed_cost */
static inline cf_count cf_warps(const cf_block *block)
{
  return cf_rounded_up(cf_product(block->extents), CF_WARP_THREADS);
}

/* Return the blocks of the busiest multiprocessor. */
static inline cf_count cf_busiest(const cf_block *block)
{
  return cf_rounded_up(cf_product(block->grid), cf_speed(block->machine->multiprocessors));
}

/* Return the lines of the first-level cache for each of the blocks on a multiprocessor. The cache and shared memory are
   one; a ninth of it is never shared memory. */
static inline cf_count cf_cache_of_a_block(const cf_block *block)
{
  const cf_count held = cf_resident(block->machine, cf_warps(block), block->registers, block->words);
  const cf_count resident = cf_most(1, cf_least(held, cf_busiest(block)));
  const cf_count taken = cf_times(resident, block->words);
  const cf_count shared = cf_amount(block->machine->shared_words_per_multiprocessor);
  const cf_count room = shared + shared / 8;
  return cf_times(CF_WORD_BYTES, room - cf_least(room, taken)) / resident / CF_LINE_BYTES;
}

/* Return the cycles that a launch of blocks takes at least which do this work, and perhaps more. */
static inline cf_count cf_at_least(const cf_block *block, cf_count instructions, cf_count wavefronts, cf_count traffic)
{
  const cf_count started =
      cf_times(cf_speed(block->machine->warp_start_cycles), cf_most(CF_LEAST_STARTS, cf_warps(block)));
  const cf_count issued = instructions / cf_speed(block->machine->issued_per_cycle);
  const cf_count moved = cf_times(traffic, 1000) / cf_speed(block->machine->l2_bytes_per_kilocycle);
  return cf_times(cf_busiest(block), cf_most(cf_most(started, issued), cf_most(wavefronts, moved)));
}

/* Return the instructions that wait for each other for as long as a warp begins its part of these. */
static inline cf_count cf_begun_by_a_warp(const cf_block *block, cf_count instructions)
{
  return cf_times(instructions, CF_WAITED) / cf_times(CF_BEGUN, cf_warps(block));
}

/* Return how often a context is done for each time that the one around it is done. */
static inline cf_count cf_turns_of(const cf_block *block, int context)
{
  return cf_number_of(block->numbers[block->sites->contexts[context].turns]);
}

/* Return the threads of a block along an axis that take part in an access. */
static inline cf_count cf_taking_part(const cf_block *block, const cf_access *access, int axis)
{
  return cf_most(1, cf_least(block->extents[axis], cf_number_of(block->numbers[access->extents[axis]])));
}

/* Return the threads of a warp along an axis that take part in an access. */
static inline cf_count cf_lanes(const cf_block *block, const cf_access *access, int axis)
{
  cf_count inner = 1;
  for (int before = 0; before < axis; before++) inner = cf_times(inner, block->extents[before]);
  return cf_least(cf_rounded_up(CF_WARP_THREADS, inner), cf_taking_part(block, access, axis));
}

/* Return how often warps execute an access. */
static inline cf_count cf_accesses_of_warps(const cf_block *block, const cf_access *access)
{
  cf_count taking = 1;
  for (int axis = 0; axis < 3; axis++)
    taking = cf_times(taking, cf_rounded_up(cf_taking_part(block, access, axis), cf_lanes(block, access, axis)));
  return cf_times(cf_times(block->runs[access->context], (cf_count)access->origin_count),
                  cf_least(cf_warps(block), taking));
}

static inline cf_count cf_instructions_of(const cf_block *block, const cf_access *access)
{
  const cf_count each = access->is_shared ? CF_SHARED_INSTRUCTIONS : CF_GLOBAL_INSTRUCTIONS;
  return cf_times(cf_accesses_of_warps(block, access), each);
}

/* Return whether no data decides which elements are accessed. */
static inline int cf_is_known(const cf_access *access) { return access->threads[0] >= 0; }

/* Return the lines or sectors that a walk touches with accesses of so many bytes. From the shortest step on, what
   follows closely is one stretch, and what is farther away begins others. */
static inline cf_count cf_units(cf_steps steps, cf_count width, cf_count unit)
{
  cf_count stretches = 1;
  cf_count length = width;
  const cf_steps ordered = cf_sorted(steps);
  for (int step_at = 0; step_at < ordered.count; step_at++) {
    const cf_step step = ordered.steps[step_at];
    if (step.places > 1 && step.bytes > cf_most(length, unit))
      stretches = cf_times(stretches, step.places);
    else if (step.places > 1)
      length = cf_plus(length, cf_times(step.bytes, step.places - 1));
  }
  return cf_times(stretches, cf_plus(length, unit - 1) / unit);
}

/* Return the bytes between two elements, whose distance is the number of this position. */
static inline cf_count cf_apart(const cf_block *block, const cf_access *access, int position)
{
  return cf_times(cf_number_of(cf_abs(block->numbers[position])), (cf_count)access->bytes);
}

/* Return the bytes between the elements of neighbouring threads. */
static inline cf_count cf_to_next_thread(const cf_block *block, const cf_access *access, int axis)
{
  return cf_is_known(access) ? cf_apart(block, access, access->threads[axis]) : 0;
}

/* Return the number of different places that a step leads to. */
static inline cf_count cf_different(cf_step step) { return step.bytes > 0 ? step.places : 1; }

static inline cf_count cf_words(cf_step step) { return step.bytes / CF_WORD_BYTES; }

/* Return the most words of one bank that so many threads ask for; the same word counts once. */
static inline cf_count cf_conflicts(cf_steps steps, cf_count threads)
{
  cf_count asked[CF_BANKS] = { 0 };
  cf_count done = 0;
  cf_count most = 0;
  for (cf_count z = 0; z < cf_different(steps.steps[2]); z++) {
    for (cf_count y = 0; y < cf_different(steps.steps[1]); y++) {
      for (cf_count x = 0; x < cf_different(steps.steps[0]); x++) {
        if (done < threads) {
          const cf_count distance =
              x * cf_words(steps.steps[0]) + y * cf_words(steps.steps[1]) + z * cf_words(steps.steps[2]);
          asked[distance % CF_BANKS]++;
          done++;
        }
      }
    }
  }
  for (int bank = 0; bank < CF_BANKS; bank++) most = cf_most(most, asked[bank]);
  return most;
}

static inline cf_count cf_wavefronts_of(const cf_block *block, const cf_access *access)
{
  cf_steps steps = { { { 0, 0 } }, 0 };
  for (int axis = 0; axis < 3; axis++)
    cf_append(&steps, cf_to_next_thread(block, access, axis), cf_lanes(block, access, axis));
  cf_count threads = 1;
  for (int step_at = 0; step_at < steps.count; step_at++) {
    const cf_step step = steps.steps[step_at];
    threads = cf_times(threads, step.places);
  }
  const cf_count runs = cf_accesses_of_warps(block, access);
  if (access->is_shared) {
    const cf_count together = cf_most(1, (cf_count)(access->bytes / CF_WORD_BYTES));
    const cf_count at_once = CF_WARP_THREADS / together;
    const cf_count asked = cf_is_known(access) ? cf_conflicts(steps, at_once) : cf_least(at_once, threads);
    return cf_times(runs, cf_times(asked, together));
  }
  const cf_count lines = cf_is_known(access) ? cf_units(steps, (cf_count)access->bytes, CF_LINE_BYTES)
                                             : cf_least(CF_WARP_THREADS, threads);
  return cf_times(runs, cf_rounded_up(lines, CF_LINES_TOGETHER));
}

/* Return the bytes from the first to the last origin. */
static inline cf_count cf_between_origins(const cf_block *block, const cf_access *access)
{
  long long first = block->numbers[block->sites->origins[access->origins]];
  long long last = first;
  for (int origin_at = 0; origin_at < access->origin_count; origin_at++) {
    const int origin = block->sites->origins[access->origins + origin_at];
    first = cf_fewer(first, block->numbers[origin]);
    last = cf_more(last, block->numbers[origin]);
  }
  return cf_times(cf_number_of(cf_sub(last, first)), (cf_count)access->bytes);
}

/* Return the lines or sectors of a walk from all origins: a few steps more, along the longest that fit. */
static inline cf_count cf_touched(const cf_block *block, const cf_access *access, cf_steps steps, cf_count unit)
{
  if (!cf_is_known(access)) {
    cf_count found = 1;
    for (int step_at = 0; step_at < steps.count; step_at++) {
      const cf_step step = steps.steps[step_at];
      found = cf_times(found, step.places);
    }
    return found;
  }
  cf_count rest = cf_between_origins(block, access);
  if (rest == 0) return cf_units(steps, (cf_count)access->bytes, unit);
  cf_steps longer = { { { 0, 0 } }, 0 };
  const cf_steps ordered = cf_sorted(steps);
  for (int step_at = ordered.count; step_at-- > 0;) {
    const cf_step step = ordered.steps[step_at];
    const cf_count more = step.bytes > 0 && step.places > 1 ? rest / step.bytes : 0;
    cf_append(&longer, step.bytes, cf_plus(step.places, more));
    rest -= more * step.bytes;
  }
  return cf_units(longer, (cf_count)access->bytes, unit);
}

/* Return the steps between threads of a block, and between turns of so many loops around, innermost first. */
static inline cf_steps cf_walk(const cf_block *block, const cf_access *access, int loops)
{
  cf_steps steps = { { { 0, 0 } }, 0 };
  for (int axis = 0; axis < 3; axis++)
    cf_append(&steps, cf_to_next_thread(block, access, axis), cf_taking_part(block, access, axis));
  for (int loop_at = 0; loop_at < loops; loop_at++) {
    const int loop = block->sites->loops[access->loops + 2 * loop_at];
    const int distance = block->sites->loops[access->loops + 2 * loop_at + 1];
    cf_append(&steps, cf_apart(block, access, distance), cf_turns_of(block, loop));
  }
  return steps;
}

/* Return the bytes that a sector counts for: more where the threads of a block ask for less than lines. */
static inline cf_count cf_bytes_of_sector(const cf_block *block, const cf_access *access)
{
  const cf_steps steps = cf_walk(block, access, 0);
  const cf_count sectors = cf_most(1, cf_touched(block, access, steps, CF_SECTOR_BYTES));
  const cf_count lines = cf_most(1, cf_touched(block, access, steps, CF_LINE_BYTES));
  const cf_count most = cf_least(cf_times(CF_MOST_APART, sectors), cf_times(CF_LINE_BYTES / CF_SECTOR_BYTES, lines));
  return cf_times(CF_SECTOR_BYTES, most) / sectors;
}

/* Return the bytes that a block reads or writes; those of loops that the cache keeps count once. */
static inline cf_count cf_traffic_of(const cf_block *block, const cf_access *access)
{
  cf_count again = block->runs[access->context];
  int kept = 0;
  for (int loop_at = 0; loop_at < access->loop_count; loop_at++) {
    const int loop = block->sites->loops[access->loops + 2 * loop_at];
    if (!block->keeps[loop]) break;
    const cf_count turns = cf_turns_of(block, loop);
    again = turns > 0 ? again / turns : 0;
    kept++;
  }
  const cf_count sectors = cf_touched(block, access, cf_walk(block, access, kept), CF_SECTOR_BYTES);
  return cf_times(again, cf_times(sectors, cf_bytes_of_sector(block, access)));
}

/* Return the turns of a region whose loads may be waited for together. */
static inline cf_count cf_turns_together(const cf_block *block, const cf_region *region)
{
  return block->sites->contexts[region->context].is_loop ? cf_most(1, cf_turns_of(block, region->context)) : 1;
}

/* Return how many of these turns bring data which the first-level cache does not have. */
static inline cf_count cf_missed(const cf_block *block, const cf_access *access, int context, cf_count turns)
{
  if (!block->keeps[context] || !cf_is_known(access)) return turns;
  cf_count step = 0;
  for (int loop_at = 0; loop_at < access->loop_count; loop_at++) {
    const int loop = block->sites->loops[access->loops + 2 * loop_at];
    const int distance = block->sites->loops[access->loops + 2 * loop_at + 1];
    if (loop == context) step = cf_plus(step, cf_apart(block, access, distance));
  }
  cf_steps steps = cf_walk(block, access, 0);
  const cf_count once = cf_most(1, cf_touched(block, access, steps, CF_SECTOR_BYTES));
  cf_append(&steps, step, turns);
  return cf_least(turns, cf_rounded_up(cf_touched(block, access, steps, CF_SECTOR_BYTES), once));
}

/* Return how often a warp waits for global memory in a region; longer where it reads many lines at once. */
static inline cf_count cf_waits_of(const cf_block *block, int number)
{
  const cf_region *region = &block->sites->regions[number];
  const cf_count turns = cf_turns_together(block, region);
  cf_count most = 0;
  cf_count lines = 0;
  for (int access_at = 0; access_at < block->sites->access_count; access_at++) {
    const cf_access *access = &block->sites->accesses[access_at];
    if (access->region == number && !access->stores && !access->is_shared) {
      most = cf_most(most, cf_missed(block, access, region->context, turns));
      lines = cf_plus(lines, cf_touched(block, access, cf_walk(block, access, 0), CF_LINE_BYTES));
    }
  }
  const cf_count each = cf_least(cf_rounded_up(turns, (cf_count)region->round), most);
  const cf_count waiting = cf_times(block->runs[region->context] / turns, each);
  return cf_plus(waiting, cf_times(waiting, lines) / CF_LINES_A_WAIT);
}

/* Return how often a warp waits in a region for what it has loaded, shared memory or other. */
static inline cf_count cf_shared_waits_of(const cf_block *block, int number)
{
  const cf_region *region = &block->sites->regions[number];
  const cf_count turns = cf_turns_together(block, region);
  cf_count loads = 0;
  for (int access_at = 0; access_at < block->sites->access_count; access_at++) {
    const cf_access *access = &block->sites->accesses[access_at];
    if (access->region == number && !access->stores) loads = cf_plus(loads, 1);
  }
  return loads > 0 ? cf_times(block->runs[region->context] / turns, cf_rounded_up(turns, (cf_count)region->round)) : 0;
}

/* Return whether what is accessed is in global memory, and the access is done at all. */
static inline int cf_is_moved(const cf_block *block, const cf_access *access)
{
  return !access->is_shared && block->runs[access->context] > 0;
}

/* Return the bytes that a launch reads or writes of an array, where this is the first access that does so. */
static inline cf_count cf_data_of(const cf_block *block, int number)
{
  const cf_access *access = &block->sites->accesses[number];
  cf_count most = 0;
  for (int other = 0; other < block->sites->access_count; other++) {
    const cf_access *beside = &block->sites->accesses[other];
    if (access->array == beside->array && access->stores == beside->stores && cf_is_moved(block, beside)) {
      if (other < number || !cf_is_moved(block, access)) break;
      cf_steps steps = cf_walk(block, beside, beside->loop_count);
      for (int axis = 0; axis < 3; axis++) {
        if (beside->grid[axis] >= 0) cf_append(&steps, cf_apart(block, beside, beside->grid[axis]), block->grid[axis]);
      }
      most = cf_most(most, cf_times(CF_SECTOR_BYTES, cf_touched(block, beside, steps, CF_SECTOR_BYTES)));
    }
  }
  return most;
}

static inline cf_count cf_runs_of_warps(const cf_block *block, int context)
{
  return cf_times(block->runs[context], cf_warps(block));
}

/* Return the number of loops around an access that are inside of a context; all of them where it is not in it. */
static inline int cf_loops_inside(const cf_block *block, const cf_access *access, int context)
{
  int inner = 0;
  for (int loop_at = 0; loop_at < access->loop_count; loop_at++) {
    const int loop = block->sites->loops[access->loops + 2 * loop_at];
    if (loop == context) break;
    inner++;
  }
  return inner;
}

/* Return the lines that a block touches in a turn of a loop. */
static inline cf_count cf_touched_in_a_turn(const cf_block *block, int context)
{
  cf_count lines = 0;
  for (int access_at = 0; access_at < block->sites->access_count; access_at++) {
    const cf_access *access = &block->sites->accesses[access_at];
    const int inner = cf_loops_inside(block, access, context);
    if (!access->is_shared && inner < access->loop_count)
      lines = cf_plus(lines, cf_touched(block, access, cf_walk(block, access, inner), CF_LINE_BYTES));
  }
  return lines;
}

/* Return the work of a block; a part of it where a launch of that much takes more than `bound` cycles. */
static inline cf_block_work cf_work_of_block(const cf_block *block, cf_count bound)
{
  for (int number = 0; number < block->sites->context_count; number++) {
    const cf_context *context = &block->sites->contexts[number];
    const cf_count around = context->parent >= 0 ? block->runs[context->parent] : 1;
    block->runs[number] = cf_times(around, cf_turns_of(block, number));
  }
  cf_count computing = 0;
  for (int n = 0; n < block->sites->context_count; n++) {
    const cf_context *c = &block->sites->contexts[n];
    computing = cf_plus(computing, cf_times(cf_runs_of_warps(block, n), (cf_count)c->instructions));
  }
  cf_count wide = 0;
  for (int n = 0; n < block->sites->context_count; n++) {
    const cf_context *c = &block->sites->contexts[n];
    wide = cf_plus(wide, cf_times(cf_runs_of_warps(block, n), (cf_count)c->wide));
  }
  if (cf_at_least(block, computing, 0, 0) > bound) {
    const cf_block_work result = { { computing, wide, 0, 0, 0, 0, 0, 0 }, 0 };
    return result;
  }
  const cf_count room = cf_cache_of_a_block(block);
  for (int number = 0; number < block->sites->context_count; number++) {
    const cf_context *context = &block->sites->contexts[number];
    block->keeps[number] = context->is_loop && cf_touched_in_a_turn(block, number) <= room;
  }
  cf_count accessing = 0;
  for (int access_at = 0; access_at < block->sites->access_count; access_at++) {
    const cf_access *access = &block->sites->accesses[access_at];
    accessing = cf_plus(accessing, cf_instructions_of(block, access));
  }
  cf_count wavefronts = 0;
  for (int access_at = 0; access_at < block->sites->access_count; access_at++) {
    const cf_access *access = &block->sites->accesses[access_at];
    wavefronts = cf_plus(wavefronts, cf_wavefronts_of(block, access));
  }
  cf_count traffic = 0;
  for (int access_at = 0; access_at < block->sites->access_count; access_at++) {
    const cf_access *access = &block->sites->accesses[access_at];
    if (!access->is_shared) traffic = cf_plus(traffic, cf_traffic_of(block, access));
  }
  const cf_count instructions = cf_plus(computing, accessing);
  if (cf_at_least(block, instructions, wavefronts, traffic) > bound) {
    const cf_block_work result = { { instructions, wide, wavefronts, traffic, 0, 0, 0, 0 }, 0 };
    return result;
  }
  cf_count waits = 0;
  for (int number = 0; number < block->sites->region_count; number++)
    waits = cf_plus(waits, cf_waits_of(block, number));
  cf_count shared_waits = 0;
  for (int number = 0; number < block->sites->region_count; number++)
    shared_waits = cf_plus(shared_waits, cf_shared_waits_of(block, number));
  cf_count barriers = 0;
  for (int region_at = 0; region_at < block->sites->region_count; region_at++) {
    const cf_region *region = &block->sites->regions[region_at];
    barriers = cf_plus(barriers, cf_times(block->runs[region->context], (cf_count)region->barriers));
  }
  cf_count waiting = 0;
  for (int region_at = 0; region_at < block->sites->region_count; region_at++) {
    const cf_region *region = &block->sites->regions[region_at];
    waiting = cf_plus(waiting, cf_times(block->runs[region->context], (cf_count)region->depth));
  }
  const cf_count depth = cf_most(waiting, cf_begun_by_a_warp(block, instructions));
  cf_count data = 0;
  for (int number = 0; number < block->sites->access_count; number++) data = cf_plus(data, cf_data_of(block, number));
  const cf_block_work result = { { instructions, wide, wavefronts, traffic, waits, shared_waits, barriers, depth },
                                 data };
  return result;
}
/* ---- the end of what is printed */

/* Iterations of some loops, of which those that are done count no more than all. */
static inline void cf_share(long long done, long long whole, cf_count *done_so_far, cf_count *whole_so_far)
{
  const cf_count all = cf_number_of(whole);
  *whole_so_far = cf_times(*whole_so_far, all);
  *done_so_far = cf_times(*done_so_far, cf_least(all, cf_number_of(done)));
}

/* Cycles of a launch of a leaf, or more than `bound` where it takes more; 0 where there is nothing to do, CF_SATURATED
   where a multiprocessor has no room for a block, or a block has too many threads along z. `runs` and `keeps` have room
   for what they say of each context. */
static inline cf_count cf_leaf_cycles(const cf_machine *machine, const cf_sites *sites, const long long *numbers,
                                      const cf_leaf_shape *shape, cf_count bound, cf_count *runs, unsigned char *keeps)
{
  const cf_work nothing = { 0, 0, 0, 0, 0, 0, 0, 0 };
  cf_tile_work work = { nothing, nothing, nothing, nothing, nothing, nothing, 0, 0, 0, 0 };
  cf_extent launch = { 0, 0, 0, 0, 0, 0, 0, 0 };
  cf_block block = { machine, sites, numbers, { 0 }, { 0 }, shape->registers, shape->shared_words, runs, keeps };
  cf_block_work found;
  int k;
  for (k = 0; k < 3; k++) {
    if (shape->grid[k] != CF_UNDEFINED && shape->grid[k] < 1) return 0;
    if (shape->block[k] != CF_UNDEFINED && shape->block[k] < 1) return 0;
    block.grid[k] = cf_number_of(shape->grid[k]);
    block.extents[k] = cf_number_of(shape->block[k]);
  }
  if (block.extents[2] > CF_MOST_DEEP) return CF_SATURATED;
  found = cf_work_of_block(&block, bound);
  work.once = found.once;
  work.warps = cf_warps(&block);
  work.registers = block.registers;
  work.shared_words = block.words;
  launch.blocks = cf_product(block.grid);
  launch.bytes = found.data;
  return cf_cost(machine, &work, &launch);
}

static inline int cf_least_int(int a, int b) { return a < b ? a : b; }

/* Whether so many threads take less room in warps, for as many of them as there are, than others. */
static inline int cf_fills_better(int value, int other)
{
  return value * ((other + CF_WARP_THREADS - 1) / CF_WARP_THREADS) >
         other * ((value + CF_WARP_THREADS - 1) / CF_WARP_THREADS);
}

/* Launches of grids with a slanted edge: what is larger counts as unknown. */
#define CF_MOST_COUNTED 1152921504606846976LL
#define CF_MOST_STAIRS 1073741824
#define CF_MOST_STAIR_COLUMNS 524288
#define CF_NO_MIRROR (-1)

/* Rows and columns of a launch that leaves out blocks on one side of a slanted edge. Row y has what lies inside of row
   y of the grid, counted from its longest one, and from its end on what lies inside of row `mirror` - y; of none below
   0. */
typedef struct cf_staircase {
  long long rows, columns, mirror;
} cf_staircase;

static inline int cf_counts(long long value) { return value > -CF_MOST_COUNTED && value < CF_MOST_COUNTED; }

static inline cf_staircase cf_rows_of(long long rows, long long columns, long long mirror)
{
  cf_staircase found;
  found.rows = rows;
  found.columns = columns;
  found.mirror = mirror;
  return found;
}

/* The launch for the blocks with down*row + right*column <= most of a grid. What is not known counts as inside. */
static inline cf_staircase cf_folded(long long rows, long long columns, long long down, long long right, long long most)
{
  long long common = down, rest = right, least, width, alone, pairs;
  cf_staircase found;
  if (rows < 1 || columns < 1 || down < 1 || right < 1 || !cf_counts(down) || !cf_counts(right) || !cf_counts(most))
    return cf_rows_of(rows, columns, CF_NO_MIRROR);
  if (most < 0) return cf_rows_of(0, 0, CF_NO_MIRROR);
  while (rest != 0) {
    const long long next = common % rest;
    common = rest;
    rest = next;
  }
  down /= common;
  right /= common;
  most /= common;
  rows = cf_fewer(rows, most / down + 1);
  columns = cf_fewer(columns, most / right + 1);
  if (rows > CF_MOST_STAIRS) return cf_rows_of(rows, columns, CF_NO_MIRROR);
  least = rows - 1;
  /* Only pairs that are no longer than the longest row: the others stay alone. */
  alone = (2 * most - right * (columns - 1)) / down + 1;
  if (alone < least) alone = least;
  pairs = cf_fewer(rows, alone / 2 + 1);
  found = cf_rows_of(pairs, columns, alone < 2 * rows - 2 ? alone : CF_NO_MIRROR);
  if (columns > CF_MOST_STAIR_COLUMNS) return found;
  /* Each row with the one that is as far from the other end: the sum of two quotients is no more than that of both. */
  width = cf_fewer(2 * columns, (2 * most - down * least) / right + 2);
  return (least / 2 + 1) * width < pairs * columns ? cf_rows_of(least / 2 + 1, width, least) : found;
}

static inline cf_count cf_stairs_of(cf_staircase stairs)
{
  return cf_times(cf_amount(stairs.rows), cf_amount(stairs.columns));
}

/* The launch for rows whose ends are first/apart columns apart in the first row, and last/apart in the last one. */
static inline cf_staircase cf_band(long long rows, long long columns, long long apart, long long first, long long last)
{
  const long long longest = first < last ? last : first;
  if (rows < 1 || columns < 1 || apart < 1 || !cf_counts(apart) || !cf_counts(first) || !cf_counts(last))
    return cf_rows_of(rows, columns, CF_NO_MIRROR);
  return longest < 0 ? cf_rows_of(0, 0, CF_NO_MIRROR)
                     : cf_rows_of(rows, cf_fewer(columns, longest / apart + 1), CF_NO_MIRROR);
}

/* Speeds of architectures, ten times the compute capability first, in the order of cf_machine. What a device tells of
   itself takes their place; an architecture that is not there has those of the last one before it. */
static inline void cf_set_speeds(cf_machine *machine, int compute_capability)
{
  static const long long speeds[][16] = {
    { 75, 68, 4, 2, 1, 1, 20000, 350000, 4000000, 600, 30, 30, 40, 500, 400, 2300 },
    { 80, 108, 4, 32, 64, 1024, 24000, 960000, 30000000, 600, 30, 30, 40, 500, 400, 2300 },
    { 86, 82, 4, 2, 1, 256, 20000, 480000, 4500000, 600, 30, 30, 40, 500, 400, 2300 },
    { 87, 16, 4, 2, 1, 512, 20000, 137000, 3000000, 600, 30, 30, 40, 500, 400, 2300 },
    { 88, 16, 4, 2, 1, 512, 20000, 137000, 3000000, 600, 30, 30, 40, 500, 400, 2300 },
    { 89, 128, 4, 2, 1, 256, 20000, 348000, 54000000, 600, 30, 30, 40, 500, 400, 2300 },
    { 90, 132, 4, 64, 128, 1257, 24000, 1500000, 40000000, 600, 30, 30, 40, 500, 400, 2300 },
    { 100, 148, 4, 64, 1, 512, 24000, 3760000, 100000000, 600, 30, 30, 40, 500, 400, 2300 },
    { 103, 148, 4, 2, 1, 512, 24000, 3760000, 100000000, 600, 30, 30, 40, 500, 400, 2300 },
    { 110, 20, 4, 2, 1, 512, 20000, 150000, 24000000, 600, 30, 30, 40, 500, 400, 2300 },
    { 120, 170, 4, 2, 1, 256, 20000, 650000, 72000000, 600, 30, 30, 40, 500, 400, 2300 },
    { 121, 48, 4, 2, 1, 512, 20000, 99000, 18000000, 600, 30, 30, 40, 500, 400, 2300 },
  };
  int row = (int)(sizeof speeds / sizeof speeds[0]) - 1;
  while (row > 0 && speeds[row][0] > compute_capability) row--;
  machine->multiprocessors = speeds[row][1];
  machine->issued_per_cycle = speeds[row][2];
  machine->wide_lanes = speeds[row][3];
  machine->wide_tensor_lanes = speeds[row][4];
  machine->half_tensor_lanes = speeds[row][5];
  machine->l2_bytes_per_kilocycle = speeds[row][6];
  machine->dram_bytes_per_kilocycle = speeds[row][7];
  machine->kept_bytes = speeds[row][8];
  machine->global_latency_cycles = speeds[row][9];
  machine->shared_latency_cycles = speeds[row][10];
  machine->barrier_cycles = speeds[row][11];
  machine->warp_start_cycles = speeds[row][12];
  machine->block_cycles = speeds[row][13];
  machine->turn_cycles = speeds[row][14];
  machine->launch_cycles = speeds[row][15];
}

#endif
