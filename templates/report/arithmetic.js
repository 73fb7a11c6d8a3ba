/* The arithmetic of selection, function by function as the generated header has it (templates/runtime/cf_runtime.h).
   Integers are of any size here: a count that the header takes for "64 bits or more" is exact. */
const CF_UNDEFINED = null;
const CF_LARGEST = (1n << 63n) - 1n;
const CF_SATURATED = (1n << 64n) - 1n;
const CF_AT_MOST = "<=", CF_LESS = "<", CF_EQUAL = "==";

const cf_plus = (a, b) => a + b;
const cf_times = (a, b) => a * b;
const cf_minus = (a, b) => (a > b ? a - b : 0n);
const cf_down = (a, b) => (b === 0n ? CF_SATURATED : a / b);
const cf_up = (a, b) => (b === 0n ? CF_SATURATED : (a + b - 1n) / b);
const cf_amount = (a) => (a > 0n ? a : 0n);
const cf_shown = (a) => (a > CF_LARGEST ? CF_LARGEST : a);

const cf_truth = (a) => (a ? 1n : 0n);
const cf_both = (a, b) => a !== CF_UNDEFINED && b !== CF_UNDEFINED;
const cf_long = (a) => (a > CF_LARGEST || a < -CF_LARGEST ? CF_UNDEFINED : a);
const cf_if = (a, b, c) => (a === CF_UNDEFINED ? CF_UNDEFINED : a !== 0n ? b : c);
const cf_add = (a, b) => (cf_both(a, b) ? cf_long(a + b) : CF_UNDEFINED);
const cf_neg = (a) => (a === CF_UNDEFINED ? a : -a);
const cf_abs = (a) => (a !== CF_UNDEFINED && a < 0n ? -a : a);
const cf_sub = (a, b) => cf_add(a, cf_neg(b));
const cf_mul = (a, b) => (cf_both(a, b) ? cf_long(a * b) : CF_UNDEFINED);
const cf_div = (a, b) => (cf_both(a, b) && b !== 0n ? a / b : CF_UNDEFINED);
const cf_mod = (a, b) => (cf_both(a, b) && b !== 0n ? a % b : CF_UNDEFINED);
const cf_shl = (a, b) => (cf_both(a, b) && b >= 0n && b < 63n ? cf_mul(a, 1n << b) : CF_UNDEFINED);
const cf_shr = (a, b) => (cf_both(a, b) && b >= 0n && b < 63n ? a >> b : CF_UNDEFINED);
const cf_bit_not = (a) => (a === CF_UNDEFINED ? a : -a - 1n);
const cf_bit_and = (a, b) => (cf_both(a, b) ? a & b : CF_UNDEFINED);
const cf_bit_or = (a, b) => (cf_both(a, b) ? a | b : CF_UNDEFINED);
const cf_bit_xor = (a, b) => (cf_both(a, b) ? a ^ b : CF_UNDEFINED);
const cf_lt = (a, b) => (cf_both(a, b) ? cf_truth(a < b) : CF_UNDEFINED);
const cf_le = (a, b) => (cf_both(a, b) ? cf_truth(a <= b) : CF_UNDEFINED);
const cf_gt = (a, b) => cf_lt(b, a);
const cf_ge = (a, b) => cf_le(b, a);
const cf_eq = (a, b) => (cf_both(a, b) ? cf_truth(a === b) : CF_UNDEFINED);
const cf_ne = (a, b) => (cf_both(a, b) ? cf_truth(a !== b) : CF_UNDEFINED);
const cf_not = (a) => (a === CF_UNDEFINED ? a : cf_truth(a === 0n));
const cf_and = (a, b) => cf_if(a, cf_ne(b, 0n), 0n);
const cf_or = (a, b) => cf_if(a, 1n, cf_ne(b, 0n));
const cf_to_int = (a) => (a === CF_UNDEFINED || BigInt.asIntN(32, a) !== a ? CF_UNDEFINED : a);
const cf_to_unsigned = (a) => (a === CF_UNDEFINED ? a : BigInt.asUintN(32, a));
const cf_to_unsigned_long = (a) => (a === CF_UNDEFINED || a < 0n ? CF_UNDEFINED : a);
const cf_to_unsigned_bits = (a, bits) => (a === CF_UNDEFINED ? a : BigInt.asUintN(Number(bits), a));
const cf_to_signed_bits = (a, bits) => (a === CF_UNDEFINED ? a : BigInt.asIntN(Number(bits), a));
const cf_signed = (a) => (a > CF_LARGEST ? CF_UNDEFINED : a);

/* Whether `needed relation available`. */
function cf_holds(fact, v) {
  const needed = fact.needed(v), available = fact.available(v);
  switch (fact.relation) {
    case CF_AT_MOST: return needed <= available;
    case CF_LESS: return needed < available;
    default: return needed === available;
  }
}

/* The point with what the host code computes and with the quotients of a region. */
function cf_completed(region, point) {
  const v = { ...point };
  for (const [name, value] of region.host) v[name] = value(v);
  for (const [name, value] of region.quotients) v[name] = value(v);
  return v;
}

/* The case of a point, as <region>_select finds it: a leaf, a dead end, or the condition that refuses the call. */
function cf_select(region, point) {
  const v = cf_completed(region, point);
  const refused = region.smallest.find((guard) => !guard.holds(v))
    ?? region.preconditions.find((guard) => !guard.holds(v));
  if (refused) return { kind: "refused", index: 0, because: refused.text };
  const holds = region.facts.map((fact) => cf_holds(fact, v));
  const found = region.cases.find((each) => each.facts.every((fact) => holds[fact]));
  if (!found) return { kind: "none", index: 0, because: region.otherwise };
  if (found.leaf < 0) return { kind: "dead end", index: -1 - found.leaf, because: region.dead_ends[-1 - found.leaf] };
  return { kind: "leaf", index: found.leaf, because: "" };
}

/* Why a tile does not fit at a point; an empty text where it does. */
function cf_obstacle(region, tile, point) {
  const v = { ...cf_completed(region, point), ...tile.sizes };
  const short = tile.facts.find((fact) => !cf_holds(fact, v));
  if (short) return `${short.text} does not hold`;
  if (tile.limits.some((limit) => { const l = limit(v); return l === CF_UNDEFINED || cf_abs(l) > region.largest_count; }))
    return "a kernel counts in 32 bits";
  const unmet = tile.conditions.find((condition) => condition.value(v) !== 1n);
  return unmet ? `${unmet.text} does not hold` : "";
}

/* Blocks and warps that a multiprocessor holds: the least of what its resources allow, with the names of these. */
function cf_occupancy(residency, point) {
  const v = { ...point };
  for (const [name, value] of residency.quotients) v[name] = value(v);
  const warps = residency.warps(v);
  const blocks = residency.blocks.map(([name, value]) => [name, value(v)]);
  const least = blocks.reduce((a, [, b]) => (b < a ? b : a), blocks[0][1]);
  return { blocks: least, warps, resident: least * warps, most: v.W_SM,
           limits: blocks.filter(([, b]) => b === least).map(([name]) => name) };
}

/* Integers of (low, high] at which `truth` differs from the integer before. `difference` is a polynomial of at most
   that degree over the integers, of whose sign alone the truth depends: between the turns of the polynomial, found
   from its differences, there is at most one change of sign, which halving finds. */
function cf_changes(difference, degree, low, high, truths) {
  const halve = (truth, from, to) => {
    const first = truth(from);
    if (truth(to) === first) return [];
    while (to - from > 1n) {
      const middle = (from + to) / 2n;
      if (truth(middle) === first) from = middle; else to = middle;
    }
    return [to];
  };
  const turns = (f, d) => {
    if (d <= 1) return [low, high];
    const step = (x) => f(x + 1n) - f(x);
    const inner = turns(step, d - 1);
    const found = inner.slice(1).flatMap((to, i) =>
      [(y) => y >= 0n, (y) => y > 0n].flatMap((is) => halve((x) => is(step(x)), inner[i], to)));
    return [...new Set([low, ...found, ...inner, high])].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  };
  const cuts = turns(difference, degree);
  return cuts.slice(1).flatMap((to, i) => truths.flatMap((is) => halve((x) => is(difference(x)), cuts[i], to)));
}

/* Where along one parameter, the others kept, the case changes: pieces [from, to, case] that fill [low, high], or null
   where what is no polynomial depends on it over too long a range to look at every integer. */
const CF_MOST_SCANNED = 4096n;
function cf_pieces(region, point, name, low, high) {
  const at = (x) => cf_select(region, { ...point, [name]: x });
  let candidates = [];
  if (region.scanned.includes(name)) {
    if (high - low > CF_MOST_SCANNED) return null;
    for (let x = low + 1n; x <= high; x++) candidates.push(x);
  } else {
    for (const fact of [...region.facts, ...region.boundaries]) {
      const degree = fact.powers[name] ?? 0;
      if (degree === 0) continue;
      const difference = (x) => {
        const v = cf_completed(region, { ...point, [name]: x });
        return fact.available(v) - fact.needed(v);
      };
      const truths = { "<=": [(y) => y >= 0n], "<": [(y) => y > 0n], "==": [(y) => y >= 0n, (y) => y > 0n] };
      candidates.push(...cf_changes(difference, degree, low, high, truths[fact.relation]));
    }
    candidates = [...new Set(candidates)].sort((a, b) => (a < b ? -1 : 1));
  }
  const pieces = [[low, high, at(low)]];
  for (const x of candidates) {
    const found = at(x), last = pieces[pieces.length - 1];
    if (found.kind === last[2].kind && found.index === last[2].index && found.because === last[2].because) continue;
    last[1] = x - 1n;
    pieces.push([x, high, found]);
  }
  return pieces;
}
