/* What a serial program touches, element by element: included by the text that recorder.py writes.

   cf_stop ends the run: an element outside the buffers, a subscript outside its declared dimension, undefined
   behaviour of C (the handlers of -fsanitize=undefined), an assert, too many accesses. A conflict is noted: two
   parallel iterations that touch one element with no barrier between them, unless both read or both do the same kind
   of atomic update. */
#include <setjmp.h>
#include <stdint.h>

enum { CF_DONE, CF_OUTSIDE, CF_SUBSCRIPT, CF_UNDEFINED, CF_ASSERT, CF_TOO_LONG };

enum { CF_READS = 1, CF_WRITES = 2, CF_ADDS = 4, CF_ANDS = 8, CF_ORS = 16, CF_XORS = 32 };

typedef struct {
  int64_t region, grid, band, thread;
  char many_grids, done, many_threads, done_in_band; /* what was done: a bit each */
} cf_shadow;

typedef struct {
  char *base;      /* of element 0 */
  int64_t size;    /* of an element, in bytes */
  int64_t low, high; /* elements that may be touched: low <= number < high */
  int64_t first, last; /* those that were: first > last where there is none */
  cf_shadow *shadow; /* of element low */
} cf_array;

typedef struct {
  int64_t array, element, region; /* of the first conflict; array -1 where there is none */
  int64_t accesses, limit, turns;
} cf_report;

static jmp_buf cf_place;
static cf_array *cf_arrays;
static cf_report *cf_found;
static int64_t cf_region_number, cf_grid, cf_band_number, cf_thread, cf_regions, cf_inside;

static void cf_stop(int why) { longjmp(cf_place, why); }

static void cf_region(int number)
{
  cf_regions++;
  cf_inside = 1;
  cf_region_number = number;
}

static void cf_outside(void) { cf_inside = 0; }
static int64_t cf_band(int64_t start)
{
  cf_band_number++;
  return start;
}

static int cf_turn(int is_thread)
{
  if (is_thread) cf_thread++;
  else {
    cf_grid++;
    cf_band_number++;
  }
  if (++cf_found->turns > cf_found->limit) cf_stop(CF_TOO_LONG);
  return 1;
}

static int64_t cf_subscript(int64_t value, int64_t extent)
{
  if (value < 0 || value >= extent) cf_stop(CF_SUBSCRIPT);
  return value;
}

static void cf_assert(int condition)
{
  if (!condition) cf_stop(CF_ASSERT);
}

/* A read, or one kind of atomic update, is nothing that iterations could not do in any order. */
static int cf_alone(int done) { return done != CF_WRITES && (done & (done - 1)) == 0; }

static const volatile void *cf_touch(int number, const volatile void *element, int does)
{
  cf_array *array = &cf_arrays[number];
  const int64_t bytes = (int64_t)((intptr_t)element - (intptr_t)array->base);
  const int64_t at = bytes >= 0 ? bytes / array->size : -((-bytes + array->size - 1) / array->size);
  if (at < array->low || at >= array->high) cf_stop(CF_OUTSIDE);
  if (++cf_found->accesses > cf_found->limit) cf_stop(CF_TOO_LONG);
  if (at < array->first) array->first = at;
  if (at > array->last) array->last = at;
  if (!cf_inside) return element;
  cf_shadow *s = &array->shadow[at - array->low];
  if (s->region != cf_regions) {
    const cf_shadow fresh = { cf_regions, cf_grid, cf_band_number, cf_thread, 0, 0, 0, 0 };
    *s = fresh;
  }
  if (s->grid != cf_grid) s->many_grids = 1;
  s->grid = cf_grid;
  s->done |= (char)does;
  if (s->band != cf_band_number) s->many_threads = s->done_in_band = 0;
  else if (s->thread != cf_thread) s->many_threads = 1;
  s->band = cf_band_number;
  s->thread = cf_thread;
  s->done_in_band |= (char)does;
  if (cf_found->array < 0 &&
      ((s->many_grids && !cf_alone(s->done)) || (s->many_threads && !cf_alone(s->done_in_band)))) {
    cf_found->array = number;
    cf_found->element = at;
    cf_found->region = cf_region_number;
  }
  return element;
}

#define CF_READ(number, element) (*(const __typeof__(element) *)cf_touch(number, &(element), CF_READS))
#define CF_DOES(number, element, does) (*(__typeof__(element) *)cf_touch(number, &(element), does))

/* Undefined behaviour that the compiler sees to. */
void __ubsan_handle_add_overflow() { cf_stop(CF_UNDEFINED); }
void __ubsan_handle_sub_overflow() { cf_stop(CF_UNDEFINED); }
void __ubsan_handle_mul_overflow() { cf_stop(CF_UNDEFINED); }
void __ubsan_handle_negate_overflow() { cf_stop(CF_UNDEFINED); }
void __ubsan_handle_divrem_overflow() { cf_stop(CF_UNDEFINED); }
void __ubsan_handle_shift_out_of_bounds() { cf_stop(CF_UNDEFINED); }
void __ubsan_handle_float_cast_overflow() { cf_stop(CF_UNDEFINED); }
void __ubsan_handle_out_of_bounds() { cf_stop(CF_UNDEFINED); }
