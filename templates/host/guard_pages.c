/* Arrays between pages that nothing may touch, in the process that runs compiled code on them.

   cf_guard_place gives an array whose first or last element lies at the edge of such pages. The first access that
   leaves the array is recorded with its address, and so is the one that goes farthest; the page that it hits is opened
   and the code runs on, so that one run shows every array that is left, and so that nothing has to be unwound. What an
   access beyond all of these pages does is said on the standard error before the process ends. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { most_arrays = 64, before = 0, behind = 1 };

/* Of the accesses that leave an array on one side; the addresses count in bytes from the first element. */
struct fault {
  long long first;    /* of the first access */
  long long farthest; /* of the access that is the farthest of the first ones in each page */
  long long pages;    /* how many pages were hit; nothing else counts where this is 0 */
  int writes;         /* whether the first access writes: 1 or 0, -1 where the processor does not say */
};

struct array {
  char *reserved, *end; /* pages that nothing may touch, and among them */
  char *data;           /* the first element */
  struct fault faults[2];
};

static struct array arrays[most_arrays];
static int count;
static uintptr_t page;

static char *floor_of(char *address) { return (char *)((uintptr_t)address / page * page); }
static char *ceiling_of(char *address) { return floor_of(address + page - 1); }

static int writes(const ucontext_t *context)
{
#if defined(__x86_64__)
  return context->uc_mcontext.gregs[REG_ERR] >> 1 & 1;
#elif defined(__aarch64__)
  /* Records of the kernel, each with its magic number and its length; the syndrome says whether the access writes. */
  const unsigned char *record = (const unsigned char *)context->uc_mcontext.__reserved;
  const unsigned char *last = record + sizeof context->uc_mcontext.__reserved - 16;
  while (record < last) {
    const struct _aarch64_ctx *head = (const struct _aarch64_ctx *)record;
    if (head->magic == ESR_MAGIC) return ((const struct esr_context *)record)->esr >> 6 & 1;
    if (head->magic == 0 || head->size == 0) break;
    record += head->size;
  }
  return -1;
#else
  (void)context;
  return -1;
#endif
}

static void handle(int signal_number, siginfo_t *information, void *context)
{
  char *const at = information->si_addr;
  for (int k = 0; k < count; k++) {
    struct array *array = &arrays[k];
    if (at < array->reserved || at >= array->end) continue;
    struct fault *fault = &array->faults[at < array->data ? before : behind];
    const long long offset = at - array->data;
    if (fault->pages++ == 0) {
      fault->first = fault->farthest = offset;
      fault->writes = writes(context);
    } else if (at < array->data ? offset < fault->farthest : offset > fault->farthest) {
      fault->farthest = offset;
    }
    mprotect(floor_of(at), page, PROT_READ | PROT_WRITE);
    return;
  }
  dprintf(STDERR_FILENO, "an access that is near no array\n"); /* its address differs from run to run */
  signal(signal_number, SIG_DFL); /* it happens again, and ends the process */
}

/* Has a stack of its own, since the stack of a thread may be what is used up. Returns 0, or what failed. */
int cf_guard_install(void)
{
  page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const size_t bytes = 64 * 1024;
  stack_t stack = { 0 };
  stack.ss_sp = malloc(bytes);
  stack.ss_size = bytes;
  if (!stack.ss_sp || sigaltstack(&stack, NULL) != 0) return 1;
  struct sigaction action = { 0 };
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  return sigaction(SIGSEGV, &action, NULL) != 0 || sigaction(SIGBUS, &action, NULL) != 0 ? 2 : 0;
}

/* Room for `bytes`, of which the first `visible` are to be used: either the first byte or the last visible one lies
   beside `distance` bytes that are closed. All of it can be written until cf_guard_close. NULL where there is no room. */
void *cf_guard_place(long long bytes, long long visible, int at_begin, long long distance)
{
  if (count == most_arrays) return NULL;
  struct array *array = &arrays[count];
  const size_t room = ((size_t)bytes / page + 2) * page, reserve = (size_t)distance / page * page;
  const size_t all = room + 2 * reserve;
  char *reserved = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return NULL;
  char *const edge = reserved + reserve + (at_begin ? 0 : ((size_t)visible + page - 1) / page * page);
  *array = (struct array){ reserved, reserved + all, at_begin ? edge : edge - visible, { { 0 }, { 0 } } };
  char *const from = floor_of(array->data), *const to = ceiling_of(array->data + bytes);
  if (to > from && mprotect(from, (size_t)(to - from), PROT_READ | PROT_WRITE) != 0) {
    munmap(reserved, all);
    return NULL;
  }
  count++;
  return array->data;
}

/* Closes what lies beyond the visible bytes of the array that was placed as the `number`-th one. */
int cf_guard_close(int number, long long visible)
{
  struct array *array = &arrays[number];
  char *const from = ceiling_of(array->data + visible);
  return from < array->end ? mprotect(from, (size_t)(array->end - from), PROT_NONE) : 0;
}

/* Copies what was recorded on both sides of an array: before it, behind it. */
void cf_guard_faults(int number, struct fault *found)
{
  found[before] = arrays[number].faults[before];
  found[behind] = arrays[number].faults[behind];
}

/* Gives all arrays back. */
void cf_guard_clear(void)
{
  while (count > 0) {
    struct array *array = &arrays[--count];
    munmap(array->reserved, (size_t)(array->end - array->reserved));
  }
}
