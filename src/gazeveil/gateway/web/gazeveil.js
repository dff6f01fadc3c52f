// SPDX-FileCopyrightText: 2026 The gazeveil authors
// SPDX-License-Identifier: Apache-2.0
//
// gazeveil.js: gaze in a web page. One module, no dependencies, no network request but the WebSocket that you open.
//
// WHAT A PAGE CANNOT GUARANTEE, FIRST. A veil in a page protects what leaves the veil, not what enters it. The page's own
// code sees raw gaze before the veil does: so do its other scripts, the tracking library, browser extensions and whoever
// serves the page. Whoever can change this page can take the veil away. If the page is not trusted, let a gateway veil
// gaze outside of it, and use `connect` here: then raw gaze never enters the page.
//
//   connect      veiled gaze from a gateway's WebSocket: samples, fixations, hits, and the guarantee
//   startVeil    the veils `clock`, `gaussian`, `temporal`, `spatial` and `smoothing`, in the page
//   veiledListener, VeiledGazeExtension    the same between WebGazer or jsPsych and your code
//
// For equal recipes and keys, noised lattice points and times of release are those of gazeveil in Python, to the last
// bit; what a filter makes of them agrees to 1e-9 (exp() is not the same in all machines). Where a function here has a
// twin in Python, it has its name; the proofs are in gazeveil's documentation.

export const VERSION = "0.1.0";

export const CAVEAT =
  "This veil runs in a web page: the page's own code, its other scripts and browser extensions see raw gaze, " +
  "and nothing is guaranteed against them. What follows is about what leaves the veil.";

/** What was expected, what was found, and in `hint` what to do next. */
export class GazeveilError extends Error {
  constructor(message, hint = "") {
    super(hint ? `${message} (${hint})` : message);
    this.name = "GazeveilError";
    this.hint = hint;
  }
}

function demand(holds, message, hint) {
  if (!holds) throw new GazeveilError(message, hint);
}

// ---------------------------------------------------------------------------------------------- exact numbers
// A fraction is [numerator, denominator] in BigInt, denominator positive. Fractions are not reduced: nobody asks.

const floorDiv = (a, b) => {
  const q = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? q - 1n : q;
};
const ceilDiv = (a, b) => -floorDiv(-a, b);
const bitLength = (n) => (n === 0n ? 0n : BigInt((n < 0n ? -n : n).toString(2).length));
const power = (base, exponent) => (exponent < 0n ? [1n, base ** -exponent] : [base ** exponent, 1n]);
const times = ([a, b], [c, d]) => [a * c, b * d];
const over = ([a, b], [c, d]) => (c < 0n ? [-a * d, -b * c] : [a * d, b * c]);
const minus = ([a, b], [c, d]) => [a * d - c * b, b * d];
const compare = ([a, b], [c, d]) => (a * d < c * b ? -1 : a * d > c * b ? 1 : 0);
const floor = ([a, b]) => floorDiv(a, b);
const ceil = ([a, b]) => ceilDiv(a, b);
const whole = (n) => [BigInt(n), 1n];

/** The double as the fraction that it is. */
function fractionOf(value) {
  let exponent = 0n;
  while (!Number.isInteger(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    const up = Number.isInteger(value);
    value = up ? value / 2 : value * 2; // both are exact, short of underflow, which `exact` keeps away
    exponent += up ? 1n : -1n;
  }
  return times(whole(value), power(2n, exponent));
}

/** The nearest double to a fraction, as Python rounds: ties to even. */
function nearestDouble([n, d]) {
  if (n === 0n) return 0;
  const shift = 64n - bitLength(n) + bitLength(d);
  const [top, bottom] = shift >= 0n ? [n << shift, d] : [n, d << -shift];
  const quotient = top / bottom; // 64 or 65 bits, so that a sticky last bit decides ties and nothing else
  return Number(top % bottom === 0n ? quotient : quotient | 1n) * 2 ** -Number(shift);
}

/** A number that somebody wrote: "0.1" is one tenth, "1/3" a third, and the double 0.1 what it stands for. */
function exact(value, name) {
  if (typeof value === "bigint") return [value, 1n];
  const size = typeof value === "number" ? Math.abs(value) : NaN;
  if (size === 0 || (size > 1e-290 && size < 1e290)) return fractionOf(value);
  const found = typeof value === "string" && /^\s*([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d{1,3}))?\s*$/i.exec(value);
  if (found && (found[2] || found[3])) {
    const digits = BigInt(found[2] + found[3]);
    return times([found[1] === "-" ? -digits : digits, 1n], power(10n, BigInt(found[4] ?? 0) - BigInt(found[3].length)));
  }
  const parts = typeof value === "string" && /^\s*([+-]?\d+)\s*\/\s*(\d+)\s*$/.exec(value);
  if (parts && BigInt(parts[2]) > 0n) return [BigInt(parts[1]), BigInt(parts[2])];
  throw new GazeveilError(`${name} must be a number, not ${String(value)}`, "for example 0.5, '0.1' or '1/3'");
}

function aboveZero(value, name) {
  const number = exact(value, name);
  if (number[0] <= 0n) throw new GazeveilError(`${name} must be greater than 0, not ${String(value)}`);
  return number;
}

/** The power of ten of the leading digit. */
function magnitude(number) {
  const size = number[0] < 0n ? [-number[0], number[1]] : number;
  let guess = BigInt(Math.floor(Number(bitLength(size[0]) - bitLength(size[1])) * Math.log10(2)));
  while (compare(size, power(10n, guess)) < 0) guess -= 1n;
  while (compare(size, power(10n, guess + 1n)) >= 0) guess += 1n;
  return guess;
}

/** A number for people, in few digits, rounded up (a guarantee) or down (what it is about). */
function inDigits(number, digits = 4, up = true) {
  const slack = over([number[0] < 0n ? -number[0] : number[0], number[1]], whole(10n ** 15n));
  const moved = minus(number, up ? slack : [-slack[0], slack[1]]);
  if (moved[0] === 0n) return "0";
  const step = power(10n, magnitude(moved) - BigInt(digits) + 1n);
  const steps = over(moved, step);
  const rounded = times(whole(up ? ceil(steps) : floor(steps)), step);
  if (rounded[0] % rounded[1] === 0n && rounded[0] / rounded[1] < 10n ** 9n) {
    return String(rounded[0] / rounded[1]).replace(/\B(?=(\d{3})+$)/g, ",");
  }
  const value = nearestDouble(rounded);
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  const plain = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (exponent < -4 || exponent >= digits) return `${plain(mantissa)}e${Number(exponent)}`;
  return plain(value.toFixed(digits - 1 - exponent));
}

// ---------------------------------------------------------------------------- intervals that hold the true value
// [lo, hi] stands for all numbers from lo / 2**bits to hi / 2**bits. Everything rounds outwards. Slow and certain: used
// to build tables once, and for the rare sample that double precision leaves undecided.

const UNDETERMINED = Symbol("too wide: draw more bits");
const upShift = (n, shift) => -(-n >> shift);
const nearShift = (n, shift) => (n + (1n << (shift - 1n))) >> shift;
const enclose = ([n, d], bits) => [floorDiv(n << bits, d), ceilDiv(n << bits, d)];
const add = (a, b) => [a[0] + b[0], a[1] + b[1]];

function multiply(a, b, bits) {
  const products = [a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]];
  const low = products.reduce((x, y) => (y < x ? y : x));
  const high = products.reduce((x, y) => (y > x ? y : x));
  return [low >> bits, upShift(high, bits)];
}

function integerRoot(n) {
  if (n < 2n) return n;
  let root = 1n << ((bitLength(n) + 1n) / 2n);
  for (;;) {
    const next = (root + n / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

const notBelowZero = (n) => (n > 0n ? n : 0n);
const squareRoot = (a, bits) => [integerRoot(notBelowZero(a[0]) << bits), integerRoot(notBelowZero(a[1]) << bits) + 1n];
const divide = (a, b, bits) => [floorDiv(a[0] << bits, b[1]), ceilDiv(a[1] << bits, b[0])];

function arctanInverse(n, bits, sign) {
  let rest = (1n << bits) / n;
  let [total, odd, turn] = [rest, 1n, 1n];
  while (rest) {
    rest /= n * n;
    odd += 2n;
    turn *= sign;
    total += turn * (rest / odd);
  }
  return total;
}

function remembered(compute) {
  const kept = new Map();
  return (bits) => {
    const work = ((bits + bitLength(bits) + 8n) | 255n) + 1n; // round, so that one number serves many precisions
    if (!kept.has(work)) kept.set(work, compute(work));
    return nearShift(kept.get(work), work - bits);
  };
}

const pi = remembered((bits) => 16n * arctanInverse(5n, bits, -1n) - 4n * arctanInverse(239n, bits, -1n));
const ln2 = remembered(
  (bits) => 18n * arctanInverse(26n, bits, 1n) - 2n * arctanInverse(4801n, bits, 1n) + 8n * arctanInverse(8749n, bits, 1n),
);

/** ln(n / 2**bits) to within one unit, for 0 < n <= 2**bits. */
function logarithm(n, bits) {
  const work = bits + bitLength(bits) + 8n;
  let exponent = bitLength(n);
  let scaled = work >= exponent ? n << (work - exponent) : n >> (exponent - work);
  if (3n * scaled < 2n << work) {
    scaled <<= 1n;
    exponent -= 1n;
  }
  const one = 1n << work;
  const ratio = floorDiv((scaled - one) << work, scaled + one);
  const square = (ratio * ratio) >> work;
  let [rest, total, odd] = [ratio, ratio, 1n];
  while (rest !== 0n && rest !== -1n) {
    rest = (rest * square) >> work;
    odd += 2n;
    total += floorDiv(rest, odd);
  }
  return nearShift(2n * total + (exponent - bits) * ln2(work), work - bits);
}

function minusLog(a, bits) {
  if (a[0] <= 0n) throw UNDETERMINED;
  const top = -logarithm(a[0], bits) + 2n;
  const low = top - 4n - ceilDiv((a[1] - a[0]) << bits, a[0]);
  return [notBelowZero(low), top];
}

function cosSinTurns(turns, bits) {
  const work = bits + 16n;
  const middle = (turns[0] + turns[1]) << 15n;
  const quarter = ((middle << 2n) + (1n << (work - 1n))) >> work;
  const angle = ((middle - (quarter << (work - 2n))) * pi(work)) >> (work - 1n);
  let term = 1n << work;
  const sums = [term, 0n];
  for (let order = 1n; term !== 0n && term !== -1n; order++) {
    term = floorDiv((term * angle) >> work, order);
    sums[order % 2n] += order % 4n === 2n || order % 4n === 3n ? -term : term;
  }
  let [cosine, sine] = sums;
  for (let turn = 0n; turn < quarter % 4n; turn++) [cosine, sine] = [-sine, cosine];
  const reach = 7n * (turns[1] - turns[0]) + 2n;
  [cosine, sine] = [cosine >> 16n, sine >> 16n];
  return [[cosine - reach, cosine + reach], [sine - reach, sine + reach]];
}

function expMinus(exponent, bits) {
  if (compare(times(exponent, whole(13n)), whole((bits + 1n) * 10n)) > 0) return [0n, 1n];
  const work = bits + bitLength(bits) + 8n;
  const halvings = floorDiv(exponent[0] * 1477n, exponent[1] * 1024n);
  const rest = floorDiv(exponent[0] << work, exponent[1]) - halvings * ln2(work);
  let [term, total, count] = [1n << work, 1n << work, 0n];
  while (term) {
    count += 1n;
    term = floorDiv(-((term * rest) >> work), count);
    total += term;
  }
  const error = 8n * count + halvings + 8n;
  const shift = work - bits + halvings;
  return [(total - error) >> shift, upShift(total + error, shift)];
}

/** erfc(sqrt(square)). */
function erfcSqrt(square, bits) {
  if (compare(times(square, whole(13n)), whole((bits + 1n) * 10n)) > 0) return [0n, 1n];
  const gap = bitLength(square[1]) - bitLength(square[0]);
  const work = bits + floor(times(square, whole(2n))) + (gap > 0n ? gap / 2n : 0n) + 16n;
  const doubled = floorDiv(2n * (square[0] << work), square[1]);
  let [term, low, odd] = [1n << work, 1n << work, 1n];
  while (term || compare(whole(odd), times(square, whole(4n))) < 0) {
    odd += 2n;
    term = ((term * doubled) >> work) / odd;
    low += term;
  }
  const bound = (low >> work) + 2n;
  const total = [low, low + 2n * bound * (bound + odd)];
  const fourOverPi = divide(enclose(whole(4n), work), [pi(work) - 1n, pi(work) + 1n], work);
  const root = squareRoot(multiply(enclose(square, work), fourOverPi, work), work);
  const erf = multiply(multiply(root, expMinus(square, work), work), total, work);
  const one = 1n << work;
  return [notBelowZero(one - erf[1]) >> (work - bits), upShift(one - erf[0], work - bits)];
}

// -------------------------------------------------------------------------------- noise on a lattice, in doubles
// A word of 64 random bits is (low, high), two integers of 32. Only + - * / and sqrt are used, which every machine rounds
// alike, and constants that are the nearest doubles; so decided samples are right everywhere, and the others are settled.

const ETA = 2 ** -53;
const TWO_32 = 2 ** 32;
const RADIANS = 2 * Math.PI * 2 ** -64;

let [LOG_HALVES, LOG_CENTRES, COSINES, SINES] = [];

/** Compute the constants, once and when the first veil needs them: some milliseconds that other pages save. */
function prepareConstants() {
  if (SINES) return;
  const bits = 128n;
  const middle = ([lo, hi]) => nearestDouble([lo + hi, 2n << bits]);
  const logCentre = (n) => middle(minusLog(enclose([256n, BigInt(257 + 2 * n)], bits), bits));
  const angles = Array.from({ length: 64 }, (_, n) => cosSinTurns(enclose([BigInt(n), 64n], bits), bits));
  LOG_HALVES = Float64Array.from({ length: 64 }, (_, n) => nearestDouble([BigInt(n + 1) * ln2(bits), 1n << bits]));
  LOG_CENTRES = Float64Array.from({ length: 128 }, (_, n) => logCentre(n));
  COSINES = Float64Array.from(angles, ([cosine]) => middle(cosine));
  SINES = Float64Array.from(angles, ([, sine]) => middle(sine));
}

/** -ln U for U between a word and the next but one; how far it may be off is left in `expError`. */
let expError = 0;
function exponential(low, high) {
  const word = high * TWO_32 + low;
  if (word === 0) {
    expError = Infinity;
    return Infinity;
  }
  const zeros = high ? Math.clz32(high) : 32 + Math.clz32(low);
  let top = high;
  let rest = low;
  if (zeros >= 32) [top, rest] = [low << (zeros - 32), 0];
  else if (zeros > 0) [top, rest] = [(high << zeros) | (low >>> (32 - zeros)), low << zeros];
  top >>>= 0;
  rest >>>= 0;
  const bin = (top >>> 24) & 127;
  const offset = ((top & 0xffffff) - 0x800000) * TWO_32 + rest;
  const r = (offset * 2 ** -63) / (1 + (2 * bin + 1) * 2 ** -8);
  const log1p = r * (1 - r * (0.5 - r * (1 / 3 - r * (0.25 - r * (0.2 - r * (1 / 6))))));
  const value = LOG_HALVES[zeros] - LOG_CENTRES[bin] - log1p;
  expError = 4 * ETA * (value + 1) + 2.1 / word;
  return value;
}

/** Half to even, as C's rint. */
function rint(value) {
  const under = Math.floor(value);
  const part = value - under;
  if (part < 0.5) return under;
  return part > 0.5 || under % 2 !== 0 ? under + 1 : under;
}

/** The nearest integer, NaN if the error does not allow it. */
function nearest(value, error) {
  const under = Math.floor(value);
  const part = value - under;
  if (!(Math.abs(part - 0.5) > 1.01 * error + 4 * ETA * (Math.abs(value) + 1))) return NaN;
  return part > 0.5 ? under + 1 : under;
}

/** One point plus planar Laplace noise from three words, in lattice steps; NaN if doubles do not decide. */
function planePoint(words, scale, x, y, out) {
  const first = exponential(words[0], words[1]);
  const firstError = expError;
  const radius = first + exponential(words[2], words[3]);
  const radiusError = firstError + expError + 2 * ETA * radius;
  const normError = firstError + 16 * ETA * first + ETA * first;
  const [low, high] = [words[4], words[5]];
  const bin = ((high + 0x2000000) >>> 0) >>> 26;
  const angle = (((high - (bin << 26)) | 0) * TWO_32 + low) * RADIANS;
  const square = angle * angle;
  const sine = angle * (1 - (square / 6) * (1 - (square / 20) * (1 - square / 42)));
  const cosine = 1 - square * (0.5 - square * (1 / 24 - square * (1 / 720 - square * (1 / 40320))));
  const [c, s] = [COSINES[bin & 63], SINES[bin & 63]];
  const across = scale * radius * (c * cosine - s * sine);
  const down = scale * radius * (s * cosine + c * sine);
  const fuzz = scale * (radiusError + radius * (16 * ETA));
  const [column, row] = [rint(x), rint(y)];
  out[0] = nearest(x - column + across, fuzz + 2 * ETA * Math.abs(across)) + column;
  out[1] = nearest(y - row + down, fuzz + 2 * ETA * Math.abs(down)) + row;
  if (!(normError < 0.25 * first)) out[0] = NaN;
}

/** The same draw with more digits and, if need be, more bits: its first words stay its leading bits. */
function settlePoint(words, scale, x, y, more) {
  let heads = [0, 1, 2].map((i) => (BigInt(words[2 * i + 1]) << 32n) | BigInt(words[2 * i]));
  const centre = [fractionOf(x), fractionOf(y)];
  for (let known = 64n; ; known += 64n) {
    const bits = known + 64n;
    const [u, v, turns] = heads.map((head) => [head << 64n, (head + 1n) << 64n]);
    try {
      const length = multiply(enclose(scale, bits), add(minusLog(u, bits), minusLog(v, bits)), bits);
      const point = cosSinTurns(turns, bits).map((part, axis) => {
        const [lo, hi] = add(enclose(centre[axis], bits), multiply(length, part, bits));
        const half = 1n << (bits - 1n);
        const [low, high] = [(lo + half) >> bits, (hi + half) >> bits];
        if (low !== high) throw UNDETERMINED;
        return believable(low);
      });
      return point;
    } catch (reason) {
      if (reason !== UNDETERMINED) throw reason;
    }
    heads = heads.map((head) => (head << 64n) | more());
  }
}

function believable(steps) {
  if (steps > 2n ** 53n || steps < -(2n ** 53n)) throw new GazeveilError("a noise sample beyond 2**53 steps");
  return Number(steps);
}

/** The step that suits a scale, 2**-j with 64 to 128 steps to the scale below 128, as a fraction. */
function latticeStep(scale) {
  if (compare(scale, whole(128n)) >= 0) return [1n, 1n];
  let exponent = bitLength(scale[0]) - bitLength(scale[1]);
  if (compare(power(2n, exponent), scale) > 0) exponent -= 1n;
  return power(2n, exponent - 6n);
}

/**
 * Gaussian noise rounded to integers, from one word a sample. T(m) = P(|Z| > m + 1/2) is in a table, in units of 2**-63,
 * each entry a lower bound less than WIDTH units below the truth. A word that falls into such a gap is settled.
 */
class GaussianTable {
  static WIDTH = 32;
  static MOST = 1 << 17;

  constructor(scale) {
    this.scale = scale;
    const count = Math.max(1, Number(ceil(times(scale, whole(9n)))));
    if (count > GaussianTable.MOST) throw new GazeveilError("sigma is beyond the range of exact sampling in a page");
    const lower = gaussianTails(scale, count).map((unit) => (2n * unit > 10n ? 2n * unit - 10n : 0n));
    for (let m = count - 2; m >= 0; m--) if (lower[m] < lower[m + 1]) lower[m] = lower[m + 1];
    const entries = [...lower.slice(0, lower.filter((one) => one > 0n).length), 0n];
    this.high = Float64Array.from(entries, (one) => Number(one >> 32n));
    this.low = Float64Array.from(entries, (one) => Number(one & 0xffffffffn));
  }

  /** One sample from the word at `words[at]`. */
  sample(words, at, more) {
    const [low, high] = [words[at], words[at + 1]];
    const upper = high >>> 1;
    const lower = ((high << 31) | (low >>> 1)) >>> 0;
    let [first, last] = [0, this.high.length - 1];
    while (first < last) {
      const middle = (first + last) >> 1;
      const entry = this.high[middle];
      if (upper < entry || (upper === entry && lower < this.low[middle])) first = middle + 1;
      else last = middle;
    }
    const gap = (upper - this.high[first]) * TWO_32 + (lower - this.low[first]);
    const size = gap < GaussianTable.WIDTH ? this.#settle((BigInt(upper) << 32n) | BigInt(lower), first, more) : first;
    return low & 1 ? -size : size;
  }

  #settle(head, near, more) {
    let bits = 63n;
    const above = (m) => {
      const position = over([2n * BigInt(m) + 1n, 2n], this.scale);
      for (;;) {
        const [lo, hi] = erfcSqrt(over(times(position, position), whole(2n)), bits + 32n);
        if ((head + 1n) << 32n <= lo) return true;
        if (head << 32n >= hi) return false;
        head = (head << 64n) | more();
        bits += 64n;
      }
    };
    let [low, stride] = [near, 1];
    while (low > 0 && !above(low - 1)) [low, stride] = [Math.max(low - stride, 0), 2 * stride];
    let high = low;
    stride = 1;
    while (above(high)) [low, high, stride] = [high + 1, high + stride, 2 * stride];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (above(middle)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** T(0), T(1), … in units of 2**-62, each off by at most 5: blocks of at most 1/8 of a scale, one polynomial each. */
function gaussianTails(scale, count) {
  const eighth = floor(over(scale, whole(8n)));
  const block = eighth > 1n ? eighth : 1n;
  const span = block > 1n ? bitLength(block - 1n) : 0n;
  const values = [];
  for (let start = 0n; start < count; start += block) {
    const centre = over([2n * (start + block / 2n) + 1n, 2n], scale);
    const square = over(times(centre, centre), whole(2n));
    if (block === 1n) {
      values.push(erfcSqrt(square, 62n)[0]);
      continue;
    }
    const coefficients = taylor(centre, square, over(whole(1n << span), scale));
    for (let offset = -(block / 2n); offset < block - block / 2n; offset++) {
      let value = coefficients[12];
      for (let order = 11; order >= 0; order--) {
        value = (((value >> 32n) * offset) << (32n - span)) + (((value & 0xffffffffn) * offset) >> span) + coefficients[order];
      }
      values.push(value);
    }
  }
  return values.slice(0, count);
}

/** T about a centre: its (n+1)-th derivative is (-1)**(n+1) 2 phi(x) He_n(x). */
function taylor(centre, square, stretch) {
  const bits = 96n + 60n;
  const root = squareRoot(divide(enclose(whole(2n), bits), [pi(bits) - 1n, pi(bits) + 1n], bits), bits);
  const twicePhi = multiply(expMinus(square, bits), root, bits)[0];
  const reduce = ([n, d]) => {
    let [a, b] = [n, d];
    while (b) [a, b] = [b, a % b];
    return [n / a, d / a];
  };
  const [[p, q], [a, b]] = [reduce(centre), reduce(stretch)];
  let [hermite, before, top, bottom] = [1n, 0n, -twicePhi * a, b];
  const coefficients = [erfcSqrt(square, 96n)[0] >> 34n];
  for (let n = 0n; n < 12n; n++) {
    coefficients.push(floorDiv(top * hermite, bottom) >> (bits - 62n));
    [hermite, before] = [p * hermite - n * q * q * before, hermite];
    [top, bottom] = [-top * a, bottom * b * q * (n + 2n)];
  }
  return coefficients;
}

// ------------------------------------------------------------------------------------------------- random words

/** BLAKE2b with 48 bytes of digest and a personal string: how gazeveil derives keys from keys and seeds. */
function derive(purpose, ...parts) {
  const mask = (1n << 64n) - 1n;
  const iv = [
    0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n,
    0x510e527fade682d1n, 0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n,
  ];
  const orders = [
    "0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8", "905724afe1bc683d",
    "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5", "a2847615fb9e3cd0",
  ];
  const personal = new Uint8Array(16);
  personal.set(new TextEncoder().encode(`gazeveil${purpose}`));
  const message = [];
  for (const part of parts) message.push(...new Uint8Array(new BigUint64Array([BigInt(part.length)]).buffer), ...part);
  const word = (bytes, at) => {
    let value = 0n;
    for (let i = 7; i >= 0; i--) value = (value << 8n) | BigInt(bytes[at + i] ?? 0);
    return value;
  };
  const h = [...iv];
  h[0] ^= 0x01010030n;
  h[6] ^= word(personal, 0);
  h[7] ^= word(personal, 8);
  const turn = (x, by) => ((x >> by) | (x << (64n - by))) & mask;
  for (let start = 0; start === 0 || start < message.length; start += 128) {
    const last = start + 128 >= message.length;
    const v = [...h, ...iv];
    v[12] ^= BigInt(last ? message.length : start + 128);
    if (last) v[14] ^= mask;
    const mix = (a, b, c, d, x, y) => {
      v[a] = (v[a] + v[b] + x) & mask;
      v[d] = turn(v[d] ^ v[a], 32n);
      v[c] = (v[c] + v[d]) & mask;
      v[b] = turn(v[b] ^ v[c], 24n);
      v[a] = (v[a] + v[b] + y) & mask;
      v[d] = turn(v[d] ^ v[a], 16n);
      v[c] = (v[c] + v[d]) & mask;
      v[b] = turn(v[b] ^ v[c], 63n);
    };
    for (let round = 0; round < 12; round++) {
      const m = [...orders[round % 10]].map((place) => word(message, start + 8 * parseInt(place, 16)));
      for (let i = 0; i < 4; i++) mix(i, 4 + i, 8 + i, 12 + i, m[2 * i], m[2 * i + 1]);
      for (let i = 0; i < 4; i++) mix(i, 4 + ((i + 1) % 4), 8 + ((i + 2) % 4), 12 + ((i + 3) % 4), m[8 + 2 * i], m[9 + 2 * i]);
    }
    for (let i = 0; i < 8; i++) h[i] ^= v[i] ^ v[i + 8];
  }
  return new Uint8Array(new BigUint64Array(h).buffer).slice(0, 48);
}

const BUFFER_WORDS = 8192;

/** Words as the operating system gives them: WebCrypto hands them out at once, so nothing can run dry. */
class SystemWords {
  #buffer = new Uint32Array(2 * 2048);
  #at = this.#buffer.length;

  take(count) {
    const taken = new Uint32Array(2 * count);
    for (let done = 0; done < taken.length; ) {
      if (this.#at === this.#buffer.length) {
        crypto.getRandomValues(this.#buffer);
        this.#at = 0;
      }
      const part = Math.min(taken.length - done, this.#buffer.length - this.#at);
      taken.set(this.#buffer.subarray(this.#at, this.#at + part), done);
      this.#buffer.fill(0, this.#at, this.#at + part); // what was handed out is erased
      this.#at += part;
      done += part;
    }
    return taken;
  }
}

/** AES-256-CTR over zeros. WebCrypto encrypts in its own time, so words are made ahead; none left is an error. */
class KeyedWords {
  #key;
  #counter;
  #ready = new Uint32Array(0);
  #at = 0;
  #busy = Promise.resolve();
  #filling = false;
  #error = null;

  static async of(material) {
    const made = new KeyedWords();
    made.#key = await crypto.subtle.importKey("raw", material.slice(0, 32), "AES-CTR", false, ["encrypt"]);
    made.#counter = material.slice(32).reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
    await made.ahead(BUFFER_WORDS);
    return made;
  }

  ahead(words) {
    this.#busy = this.#busy.then(() => this.#fill(words));
    return this.#busy;
  }

  async #fill(words) {
    const missing = words - (this.#ready.length - this.#at) / 2;
    if (missing <= 0) return;
    const blocks = Math.ceil(missing / 2);
    const counter = new Uint8Array(16);
    for (let i = 0; i < 16; i++) counter[i] = Number((this.#counter >> BigInt(8 * (15 - i))) & 255n);
    const cipher = { name: "AES-CTR", counter, length: 128 };
    const stream = await crypto.subtle.encrypt(cipher, this.#key, new Uint8Array(16 * blocks));
    this.#counter = (this.#counter + BigInt(blocks)) % (1n << 128n);
    const fresh = new DataView(stream);
    const left = this.#ready.length - this.#at;
    const longer = new Uint32Array(left + 4 * blocks);
    longer.set(this.#ready.subarray(this.#at));
    for (let i = 0; i < 4 * blocks; i++) longer[left + i] = fresh.getUint32(4 * i, true);
    this.#ready.fill(0);
    [this.#ready, this.#at] = [longer, 0];
  }

  take(count) {
    if (this.#error) throw this.#error;
    if (this.#at + 2 * count > this.#ready.length) {
      throw new GazeveilError("a keyed source has no words left for now", "await noise.ahead(words) before a long run");
    }
    const taken = this.#ready.slice(this.#at, this.#at + 2 * count);
    this.#ready.fill(0, this.#at, this.#at + 2 * count);
    this.#at += 2 * count;
    if (this.#ready.length - this.#at < BUFFER_WORDS && !this.#filling) {
      this.#filling = true;
      this.ahead(BUFFER_WORDS).then(
        () => (this.#filling = false),
        (error) => (this.#error = error),
      );
    }
    return taken;
  }
}

/**
 * The only door to randomness. `NoiseSource.secure()` is for people. `keyed` gives the noise that gazeveil in Python draws
 * from the same key and purpose, `seeded` that of a seed, which is no secret; both wait for WebCrypto.
 */
export class NoiseSource {
  #words;
  #more;
  #secure;

  constructor(words, more, secure, description) {
    const made = words instanceof SystemWords || words instanceof KeyedWords;
    demand(made, "a noise source is made by secure, keyed or seeded");
    [this.#words, this.#more, this.#secure, this.description] = [words, more, secure, description];
  }

  static secure() {
    demand(globalThis.crypto?.getRandomValues, "this page has no WebCrypto, and so no noise");
    const words = new SystemWords();
    return new NoiseSource(words, words, true, "WebCrypto, keyed by the operating system");
  }

  static async keyed(key, purpose) {
    demand(key instanceof Uint8Array && key.length === 32, "a key has 32 bytes");
    const root = derive("keyed", key, new TextEncoder().encode(purpose));
    return NoiseSource.#from(root, true, "AES-256-CTR from a secret key");
  }

  static async seeded(seed) {
    demand(Number.isSafeInteger(seed), `a seed is an integer, not ${String(seed)}`);
    const root = derive("seed", new TextEncoder().encode(String(seed)));
    return NoiseSource.#from(root, false, `AES-256-CTR from seed ${seed}: repeatable, not private`);
  }

  static async #from(root, secure, description) {
    demand(globalThis.crypto?.subtle, "keyed noise needs WebCrypto, which pages have on https and on localhost");
    const first = new TextEncoder().encode("0");
    const [words, more] = await Promise.all(["words", "more"].map((name) => KeyedWords.of(derive(name, root, first))));
    return new NoiseSource(words, more, secure, description);
  }

  /** Whether nobody can know the noise; if not, nothing is guaranteed. */
  get isSecure() {
    return this.#secure;
  }

  /** The next words, each as its low and its high 32 bits. */
  words(count) {
    return this.#words.take(count);
  }

  /** 64 further bits for a sample that its own words left undecided, from a keystream of their own. */
  more() {
    const [low, high] = this.#more.take(1);
    return (BigInt(high) << 32n) | BigInt(low);
  }

  /** Have so many words at hand. A keyed source needs that before many samples are veiled at once. */
  async ahead(words) {
    if (this.#words instanceof KeyedWords) await this.#words.ahead(words);
  }

  static isKnownSecure(noise) {
    return noise instanceof NoiseSource && noise.#secure;
  }
}

// ------------------------------------------------------------------------------------- space, lengths, guarantee

const isPositive = (value) => typeof value === "number" && Number.isFinite(value) && value > 0;

/** A screen: {kind: "screen", width, height, pixels_per_degree?, unit?: "px" | "norm"}, origin at the top left. */
function screenOf(given) {
  const { kind = "screen", width, height, pixels_per_degree = null, unit = "px", ...other } = given ?? {};
  const known = kind === "screen" && !Object.keys(other).length && ["px", "norm"].includes(unit);
  demand(known, "in a page, gaze lives on a screen", "{kind: 'screen', width: 1920, height: 1080}");
  const sized = isPositive(width) && isPositive(height) && (pixels_per_degree === null || isPositive(pixels_per_degree));
  demand(sized, "a screen needs a positive width and height, and positive pixels_per_degree if any");
  return { width, height, unit, perDegree: pixels_per_degree, size: [width, height], centre: [width / 2, height / 2] };
}

function degreesOn(screen, angle) {
  if (screen.perDegree === null) {
    throw new GazeveilError("a screen does not know how large a degree is", "give its pixels_per_degree");
  }
  return angle * screen.perDegree;
}

/** A radius in the unit of the screen: a number, or text such as "60px", "2deg" or "5%". */
function radiusOn(screen, written) {
  if (typeof written !== "string") return exact(written, "radius");
  const [, text, suffix = ""] = /^(.*?)(px|deg|°|%|norm)?\s*$/i.exec(written);
  const [number, unit] = [exact(text, "radius"), suffix.toLowerCase().replace("°", "deg")];
  if (unit === "" || unit === screen.unit) return number;
  if (unit === "%") return over(times(number, fractionOf(screen.width)), whole(100n));
  if (unit === "deg" && screen.perDegree !== null) {
    const finest = [1n, screen.unit === "px" ? 100n : 100000n]; // up: a larger radius is never protected less
    return times(whole(ceil(over(times(number, fractionOf(screen.perDegree)), finest))), finest);
  }
  throw new GazeveilError(`radius is ${written}, which is no length on this screen`, "for example 60px");
}

const SEEDED = "its noise came from a seed, and anyone who knows the seed can remove the noise";

function nextUp(value) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigUint64(0, view.getBigUint64(0) + 1n);
  return view.getFloat64(0);
}

/** What is guaranteed, with what a page cannot guarantee before it. `statement` and `short` are Python's words. */
function guaranteeOf(proven, short, statement) {
  const [text, line] = [`${CAVEAT} ${statement}`, `${CAVEAT} ${short}`];
  return Object.freeze({ proven, caveat: CAVEAT, short, statement, text, toString: () => line });
}

function unproven(...reasons) {
  const reason = reasons.sort().join("; ");
  return guaranteeOf(false, `unproven: ${reason}`, `Nothing is guaranteed: ${reason}.`);
}

function streamGuarantee({ epsilon, window, radius }, unit) {
  const seconds = compare(window, [1n, 1n]) === 0 ? "1 second" : `${inDigits(window, 4, false)} seconds`;
  const distance = `${inDigits(radius, 4, false)} ${unit === "px" ? "px" : "of the screen's size"}`;
  const where = `where one participant looked during any ${seconds}, up to ${distance} away`;
  const loss = inDigits(epsilon);
  const factor = compare(epsilon, whole(100n)) > 0 ? null : fractionOf(nextUp(Math.exp(nextUp(nearestDouble(epsilon)))));
  const odds = factor === null ? `e^${loss}, which is no protection` : `e^${loss} = ${inDigits(factor, 3)}`;
  const statement =
    `Whatever anyone knew before but the noise, changing ${where} ` +
    `makes any conclusion more or less likely by a factor of at most ${odds}.`;
  return guaranteeOf(true, `ε=${loss} for ${where} (replace-one)`, statement);
}

// -------------------------------------------------------------------------------------------------------- veils

/** Seconds beyond which a time is none: so that microseconds are exact integers. Python allows more. */
const LATEST = 9e9;

// Only `step` may reach these: it refuses to go on after an error.
const [ADVANCE, VEILED, FORGET] = ["advance", "veiled", "forget"].map(Symbol);

/** What all veils share. After any error a veil is shut, and nothing comes out. */
class Veil {
  #shut = "";

  constructor(recipe, noise) {
    for (const method of ["words", "more"]) {
      demand(typeof noise?.[method] === "function", "a veil needs noise", "NoiseSource.secure()");
    }
    [this.recipe, this.noise] = [Object.freeze({ ...recipe }), noise];
    this.faults = { clock_ran_back: 0, missing: 0, not_finite: 0, too_far: 0 };
  }

  /** Why nothing comes out any more; empty while the veil is open. */
  get shut() {
    return this.#shut;
  }

  /** Let nothing through any more, and forget what was kept. */
  close(reason = "the stream was closed") {
    this.#shut ||= reason;
    this[FORGET]();
  }

  /** What the page's monotonic clock shows, in seconds: a guarantee for windows then holds on both clocks. */
  pace() {}

  /**
   * Take one sample and return the veiled point [x, y].
   * @param {number} t  Time in seconds; one that is earlier than the last is taken as the last.
   * @param {number} x  Gaze in the unit of the screen; NaN for missing gaze.
   * @param {number} y  The other coordinate.
   */
  step(t, x, y) {
    if (this.#shut) throw new GazeveilError(`the veil is shut: ${this.#shut}`, "start a new stream");
    try {
      const numbers = typeof t === "number" && typeof x === "number" && typeof y === "number" && Math.abs(t) <= LATEST;
      demand(numbers, "a sample is a time within ±9e9 seconds, and gaze as numbers; the veil is shut", "missing gaze is NaN");
      return this[ADVANCE](t, x, y);
    } catch (error) {
      this.close(`${error?.name ?? "an error"} in an earlier step`);
      throw error;
    }
  }
}

/** Wilson's veils (2024): nothing is guaranteed. Missing gaze is the last gaze seen, the centre before any. */
class PlainVeil extends Veil {
  #previous = -Infinity;
  #last;
  #lowest;
  #highest;
  seen = 0;

  constructor(recipe, screen, noise) {
    super(recipe, noise);
    this.#last = [...screen.centre];
    this.#lowest = screen.size.map((size, axis) => screen.centre[axis] - 8 * size);
    this.#highest = screen.size.map((size, axis) => screen.centre[axis] + 8 * size);
  }

  [FORGET]() {
    this.#last = [0, 0];
  }

  [ADVANCE](t, x, y) {
    const now = rint(t * 1e6);
    if (now < this.#previous) this.faults.clock_ran_back++;
    else this.#previous = now;
    this.seen++;
    const [lowest, highest, last] = [this.#lowest, this.#highest, this.#last];
    if (lowest[0] <= x && x <= highest[0] && lowest[1] <= y && y <= highest[1]) {
      last[0] = x;
      last[1] = y;
    } else if (Number.isNaN(x) || Number.isNaN(y)) this.faults.missing++;
    else if (Math.abs(x) === Infinity || Math.abs(y) === Infinity) this.faults.not_finite++;
    else this.faults.too_far++;
    return this[VEILED](last[0], last[1]);
  }
}

class GaussianVeil extends PlainVeil {
  #table;
  #step;
  #drawn = new Float64Array(0);
  #at = 0;

  constructor(recipe, screen, noise, { sigma = 1 }) {
    super(recipe, screen, noise);
    const degrees = typeof sigma === "string" ? nearestDouble(exact(sigma.replace(/\s*deg\s*$/i, ""), "sigma")) : sigma;
    demand(isPositive(degrees), `sigma must be positive, not ${String(sigma)}`);
    const own = exact(degreesOn(screen, degrees), "sigma");
    const step = latticeStep(own);
    this.#table = new GaussianTable(over(own, step));
    this.#step = nearestDouble(step);
  }

  get guarantee() {
    const reason = "noise that is new with every sample averages out over a fixation (W5)";
    return NoiseSource.isKnownSecure(this.noise) ? unproven(reason) : unproven(reason, SEEDED);
  }

  [FORGET]() {
    super[FORGET]();
    this.#drawn.fill(0);
    this.#at = this.#drawn.length;
  }

  [VEILED](x, y) {
    if (this.#at === this.#drawn.length) this.#draw();
    const [step, at] = [this.#step, this.#at];
    const [across, down] = [Math.floor(x / step + 0.5) * step, Math.floor(y / step + 0.5) * step];
    const point = [across + this.#drawn[at], down + this.#drawn[at + 1]];
    this.#drawn[at] = this.#drawn[at + 1] = 0;
    this.#at += 2;
    return point;
  }

  #draw() {
    const words = this.noise.words(512);
    const more = () => this.noise.more();
    this.#drawn = Float64Array.from({ length: 512 }, (_, i) => this.#table.sample(words, 2 * i, more) * this.#step);
    words.fill(0);
    this.#at = 0;
  }
}

class TemporalVeil extends PlainVeil {
  #every;
  #left = 0;
  #held = [0, 0];

  constructor(recipe, screen, noise, { keep_every = 3 }) {
    super(recipe, screen, noise);
    this.#every = wholeNumber(keep_every, "keep_every", 1, 1e6);
  }

  get guarantee() {
    return unproven("the points that pass are true gaze (temporal downsampling, Wilson 2024)");
  }

  [FORGET]() {
    super[FORGET]();
    this.#held = [0, 0];
  }

  [VEILED](x, y) {
    if (this.#left === 0) [this.#left, this.#held] = [this.#every, [x, y]];
    this.#left--;
    return [...this.#held];
  }
}

class SpatialVeil extends PlainVeil {
  #cell;
  #shift;

  constructor(recipe, screen, noise, { factor = 48, centred = true }) {
    super(recipe, screen, noise);
    demand(isPositive(factor), `factor must be positive, not ${String(factor)}`);
    this.#cell = degreesOn(screen, factor / 12);
    this.#shift = truth(centred, "centred") ? this.#cell / 2 : 0;
  }

  get guarantee() {
    return unproven("a known, fixed grid reveals which cell gaze is in, and when it leaves (W4)");
  }

  [VEILED](x, y) {
    const [cell, shift] = [this.#cell, this.#shift];
    return [Math.floor(x / cell) * cell + shift, Math.floor(y / cell) * cell + shift];
  }
}

/** With weights 1 to B, a new sample takes the plain sum from the weighted one and adds B times itself. */
class SmoothingVeil extends PlainVeil {
  #window;
  #fills;
  #ring;
  #at = 0;
  #plain = [0, 0];
  #weighted = [0, 0];

  constructor(recipe, screen, noise, { window = 50, start_with = "first" }) {
    super(recipe, screen, noise);
    this.#window = wholeNumber(window, "window", 1, 4096);
    demand(["first", "zeros"].includes(start_with), `start_with must be first or zeros, not ${String(start_with)}`);
    this.#fills = start_with === "first";
    this.#ring = new Float64Array(2 * this.#window);
  }

  get guarantee() {
    return unproven("a known filter that has an exact inverse hides nothing from those who know it (W3)");
  }

  [FORGET]() {
    super[FORGET]();
    this.#ring.fill(0);
    [this.#plain, this.#weighted] = [[0, 0], [0, 0]];
  }

  [VEILED](x, y) {
    const [window, ring, point] = [this.#window, this.#ring, [x, y]];
    if (this.seen === 1 && this.#fills) {
      for (let i = 0; i < ring.length; i++) ring[i] = point[i % 2];
      this.#sumAfresh();
    }
    for (let axis = 0; axis < 2; axis++) {
      const place = 2 * this.#at + axis;
      this.#weighted[axis] += window * point[axis] - this.#plain[axis];
      this.#plain[axis] += point[axis] - ring[place];
      ring[place] = point[axis];
    }
    this.#at = (this.#at + 1) % window;
    if (this.#at === 0) this.#sumAfresh(); // before rounding errors add up
    const total = 0.5 * window * (window + 1);
    return [this.#weighted[0] / total, this.#weighted[1] / total];
  }

  #sumAfresh() {
    for (let axis = 0; axis < 2; axis++) {
      let [plain, weighted] = [0, 0];
      for (let i = 0; i < this.#window; i++) {
        const value = this.#ring[2 * i + axis];
        plain += value;
        weighted += (i + 1) * value;
      }
      [this.#plain[axis], this.#weighted[axis]] = [plain, weighted];
    }
  }
}

function wholeNumber(value, name, least, most) {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new GazeveilError(`${name} must be a whole number from ${least} to ${most}, not ${String(value)}`);
}

function truth(value, name) {
  if (typeof value === "boolean") return value;
  throw new GazeveilError(`${name} is true or false, not ${String(value)}`);
}

// ------------------------------------------------------------------- the clock: noisy points at public times, a filter

/** How gaze moves: a part that wanders for some 0.7 s and a slow offset, as shares of the screen. Public constants. */
const EYES = { spread: [0.2, 0.18], settle: 0.7, offset: [0.07, 0.09], drift: 60 };
const LOSS_UNIT = 2 ** 30;
const TRUST = 0.6;

function variances(size) {
  const squares = (shares) => size.map((side, axis) => (shares[axis] * side) ** 2);
  return { wander: squares(EYES.spread), offset: squares(EYES.offset) };
}

/** Where gaze is expected, given the regions on the screen, [left, top, right, bottom, weight] each; they are public. */
function priorOf(screen, regions) {
  const { wander, offset } = variances(screen.size);
  const centre = [...screen.centre];
  if (regions === null) return { centre, wander, offset };
  const isRegion = (one) => Array.isArray(one) && [4, 5].includes(one.length) && one.every(Number.isFinite);
  const listed = Array.isArray(regions) && regions.length > 0 && regions.every(isRegion);
  demand(listed, "content is a list of regions [left, top, right, bottom, weight]");
  const weights = regions.map((region) => region[4] ?? 1);
  const most = Math.max(...weights);
  demand(Math.min(...weights) >= 0 && most > 0, "weights of regions must not be negative, nor all 0");
  const sum = weights.reduce((all, weight) => all + weight / most, 0);
  for (let axis = 0; axis < 2; axis++) {
    const clip = (value) => Math.min(Math.max(value, 0), screen.size[axis]);
    const stretches = regions.map((region, i) => {
      const [low, high] = [clip(region[axis]), clip(region[axis + 2])];
      demand(low < high, "a region goes from left to right and top to bottom, and lies on the screen, at least partly");
      return { place: low + (high - low) / 2, even: (high - low) ** 2 / 12, share: weights[i] / most / sum };
    });
    const mean = stretches.reduce((all, { place, share }) => all + share * place, 0);
    const variance = stretches.reduce((all, { place, even, share }) => all + share * ((place - mean) ** 2 + even), 0);
    const away = mean - centre[axis];
    const usual = wander[axis] + offset[axis];
    const grown = (TRUST * variance + (1 - TRUST) * usual + TRUST * (1 - TRUST) * away ** 2) / usual;
    centre[axis] += TRUST * away;
    wander[axis] *= grown;
    offset[axis] *= grown;
  }
  return { centre, wander, offset };
}

/** The mean squared error that the filter expects. */
function predictedError(size, scale, period) {
  const noise = 3 * scale * scale;
  const [fast, slow] = [Math.exp(-period / EYES.settle), Math.exp(-period / EYES.drift)];
  const stays = (rate) => -Math.expm1(-rate) / rate;
  const { wander, offset } = variances(size);
  let total = 0;
  for (let axis = 0; axis < 2; axis++) {
    const [varU, varM] = [wander[axis], offset[axis]];
    let [uu, um, mm] = [varU, 0, varM];
    let after = [uu, um, mm];
    const rounds = Math.max(20, Math.min(400, Math.ceil((2 * EYES.drift) / period)));
    for (let i = 0; i < rounds; i++) {
      const [withU, withM] = [uu + um, um + mm];
      const all = withU + withM + noise;
      after = [uu - (withU * withU) / all, um - (withU * withM) / all, mm - (withM * withM) / all];
      uu = fast * fast * after[0] + (1 - fast * fast) * varU;
      um = fast * slow * after[1];
      mm = slow * slow * after[2] + (1 - slow * slow) * varM;
    }
    total += varU + (after[0] - varU) * stays((2 * period) / EYES.settle);
    total += 2 * after[1] * stays(period / EYES.settle + period / EYES.drift);
    total += varM + (after[2] - varM) * stays((2 * period) / EYES.drift);
  }
  return total;
}

/** How many ticks share a window: the number of least expected error. No gaze enters, so it is public. */
function chooseTicks(size, scale, window) {
  let [best, least] = [1, Infinity];
  for (let ticks = 1; ticks <= 12; ticks++) {
    const error = predictedError(size, ticks * scale, window / ticks);
    if (error < least) [best, least] = [ticks, error];
  }
  return best;
}

/** The numbers of a guarantee, exactly; what is not given stays as it was. */
function promiseOf(screen, { epsilon, window, radius }, before = null) {
  return {
    epsilon: before && epsilon === undefined ? before.epsilon : aboveZero(epsilon, "epsilon"),
    window: before && window === undefined ? before.window : aboveZero(window, "window"),
    radius: before && radius === undefined ? before.radius : radiusOn(screen, radius),
  };
}

/** What a guarantee comes to, in whole numbers; what does not come out even is rounded against the spender. */
function planOf(screen, promise, ticks) {
  const { epsilon, window, radius } = promise;
  for (const [name, value] of Object.entries(promise)) {
    const sane = compare(value, [1n, 10n ** 9n]) >= 0 && compare(value, whole(10n ** 9n)) <= 0;
    demand(sane, `${name} must be between 1e-9 and 1e9`);
  }
  const remembered = compare(window, [1n, 1000n]) >= 0 && compare(window, whole(10n)) <= 0;
  demand(remembered, "window must be between 0.001 and 10 seconds");
  const cap = floor(times(over(epsilon, radius), whole(1n << 30n)));
  const fits = cap >= 1n << 10n && cap <= 1n << 48n;
  demand(fits, "epsilon / radius must be between 1e-6 and 262144", "check the radius: it is in the unit of the gaze");
  const windowUs = ceil(times(window, whole(1000000n))) + 1n;
  const count = BigInt(ticks || chooseTicks(screen.size, nearestDouble(over(radius, epsilon)), nearestDouble(window)));
  const loss = cap / count;
  demand(loss > 0n, "this many ticks leave nothing for each");
  const exponent = 30n - bitLength(loss - 1n) - 6n; // floor(log2(noise scale)) - 6
  const spacing = 2 ** Math.min(0, Number(exponent));
  const steps = LOSS_UNIT / Number(loss) / spacing;
  const exactly = steps <= 2 ** 40 && Math.max(...screen.size) / spacing < 2 ** 51;
  demand(exactly, "this guarantee needs noise beyond the range of exact sampling");
  const periodUs = Math.max(1, Number(windowUs / count));
  const rooms = Math.floor(10000002 / periodUs) + 2;
  demand(rooms <= 1 << 20, "ticks so close together would fill the ledger", "use a longer window");
  const scale = over(over(whole(1n << 30n), [loss, 1n]), fractionOf(spacing));
  return { cap: Number(cap), windowUs: Number(windowUs), loss: Number(loss), periodUs, spacing, steps, scale, rooms };
}

/** What every closed window of a stream has cost, in whole loss units and microseconds. */
class Ledger {
  #rules = [];
  #spends = []; // [time, amount], oldest first
  #rooms;

  constructor(plan) {
    this.#rooms = plan.rooms;
    this.#bind(plan, -Infinity);
  }

  /** What may still be spent at this time under every rule in force. */
  room(now) {
    let least = Infinity;
    this.#rules = this.#rules.filter((rule) => now <= rule.until);
    for (const rule of this.#rules) {
      while (rule.kept.length && rule.kept[0][0] < now - rule.windowUs) rule.spent -= rule.kept.shift()[1];
      least = Math.min(least, rule.cap - rule.spent);
    }
    return least;
  }

  spend(now, amount) {
    if (amount <= 0 || this.room(now) < amount) return false;
    while (this.#spends.length && this.#spends[0][0] < now - 10000002) this.#spends.shift();
    if (this.#spends.length >= this.#rooms) return false;
    const entry = [now, amount];
    this.#spends.push(entry);
    for (const rule of this.#rules) {
      rule.kept.push(entry);
      rule.spent += amount;
    }
    return true;
  }

  /** A new guarantee from now on. The old ones bind until windows that began under them are over. */
  promise(plan, now) {
    for (const rule of this.#rules) rule.until = Math.min(rule.until, now + rule.windowUs);
    this.room(now);
    this.#rooms = Math.max(this.#rooms, plan.rooms);
    this.#bind(plan, now);
  }

  #bind({ cap, windowUs }, now) {
    const kept = this.#spends.filter(([at]) => at >= now - windowUs);
    const spent = kept.reduce((sum, [, amount]) => sum + amount, 0);
    this.#rules.push({ cap, windowUs, until: Infinity, kept, spent });
  }
}

/**
 * Planar Laplace noise on a public clock, then a Kalman filter. When to publish is never decided by gaze: a few ticks a
 * window, chosen in advance, get noise; between them the filter's estimate goes out.
 */
class ClockVeil extends Veil {
  #screen;
  #plan;
  #promise;
  #ticks;
  #filter;
  #lagUs;
  #prior;
  #ledger;
  #belief; // for both axes: wandering part, slow offset, and their covariance uu, um, mm
  #past; // for the smoother: the time of a tick, the belief after it, and the smoothed parts of both axes
  #now = -Infinity;
  #origin = 0;
  #tick = -Infinity;
  #count = 0;
  #wall = null;
  #spent = 0;
  #spentAt = null;
  #spentWall = null;
  #drawn = [0, 0]; // a noisy point that is not paid for yet
  #noisy = [0, 0]; // the latest one that was released

  constructor(recipe, screen, noise, { epsilon, window, radius, ticks = 0, lag = 0, filter = true, content = null }) {
    super(recipe, noise);
    prepareConstants();
    this.#screen = screen;
    this.#ticks = wholeNumber(ticks, "ticks", 0, 1000);
    this.#filter = truth(filter, "filter");
    const short = typeof lag === "number" && lag >= 0 && lag <= 0.5;
    demand(short, `lag must be between 0 and 0.5 seconds, not ${String(lag)}`);
    demand(filter || (!lag && content === null), "lag and content need the filter");
    this.#lagUs = lag * 1e6;
    this.#prior = priorOf(screen, content);
    this.#promise = promiseOf(screen, { epsilon, window, radius });
    this.#plan = planOf(screen, this.#promise, this.#ticks);
    this.#ledger = new Ledger(this.#plan);
    this.#belief = [0, 1].map((axis) => Float64Array.of(0, 0, this.#prior.wander[axis], 0, this.#prior.offset[axis]));
    this.#past = this.#roomToLookBack([]);
  }

  get guarantee() {
    return NoiseSource.isKnownSecure(this.noise) ? streamGuarantee(this.#promise, this.#screen.unit) : unproven(SEEDED);
  }

  [FORGET]() {
    for (const axis of this.#belief) axis.fill(0);
    this.#past = [];
    this.#drawn.fill(0);
    this.#noisy.fill(0);
  }

  pace(now) {
    const wall = rint(now * 1e6);
    if (this.#wall !== null && wall <= this.#wall) return;
    if (this.#wall === null && this.#spentWall === null) this.#spentWall = wall;
    this.#wall = wall;
  }

  /**
   * Another guarantee from now on: a stricter one holds at once, a looser one when the windows that began under the old
   * one are over. A second veil for the same gaze would spend a second budget; this spends none.
   */
  change(t, { epsilon, window, radius } = {}) {
    if (this.shut) throw new GazeveilError(`the veil is shut: ${this.shut}`);
    const changed = promiseOf(this.#screen, { epsilon, window, radius }, this.#promise);
    const plan = planOf(this.#screen, changed, this.#ticks);
    demand(Math.abs(t) <= LATEST, "the time of a change must be in seconds");
    const now = Math.max(rint(t * 1e6), this.#now);
    this.#ledger.promise(plan, this.#paced(now));
    [this.#promise, this.#plan] = [changed, plan];
    this.#past = this.#roomToLookBack(this.#past);
    if (this.#now !== -Infinity) this.#now = now;
  }

  /** The ledger's time: since the latest spend it passed no faster than the stream's clock or the page's. */
  #paced(now) {
    if (this.#spentAt === null) return now;
    let passed = now - this.#spentAt;
    if (this.#wall !== null) passed = Math.min(passed, this.#wall - this.#spentWall);
    return this.#spent + passed;
  }

  [ADVANCE](t, x, y) {
    const given = rint(t * 1e6);
    const now = Math.max(given, this.#now);
    const plan = this.#plan;
    const at = this.#paced(now);
    const ticks = (this.#count === 0 || now - this.#tick >= plan.periodUs) && this.#ledger.room(at) >= plan.loss;
    if (ticks) this.#addNoise(now, x, y);
    if (this.#now === -Infinity) this.#origin = now;
    else if (given < now) this.faults.clock_ran_back++;
    this.#now = now;
    if (!(Number.isFinite(x) && Number.isFinite(y))) {
      if (Math.abs(x) === Infinity || Math.abs(y) === Infinity) this.faults.not_finite++;
      else this.faults.missing++;
    }
    if (ticks && this.#ledger.spend(at, plan.loss)) {
      [this.#spent, this.#spentAt, this.#spentWall] = [at, now, this.#wall];
      [this.#noisy, this.#drawn] = [this.#drawn, [0, 0]];
      this.#released(now);
    }
    return this.#lagUs > 0 ? this.#lookingBack(now - this.#origin - this.#lagUs) : this.#estimate(now);
  }

  /** The latest point that was released, and when, in microseconds: for tests and for the curious. It is public. */
  get latest() {
    return this.#count ? { t_us: this.#tick, x: this.#noisy[0], y: this.#noisy[1] } : null;
  }

  /** A sample without gaze stands for the estimate from what was released: a gap is not seen as a gap. */
  #addNoise(now, x, y) {
    const { spacing, steps, scale } = this.#plan;
    if (!(Number.isFinite(x) && Number.isFinite(y))) [x, y] = this.#estimate(now);
    const [column, row] = [this.#inside(x, 0) / spacing, this.#inside(y, 1) / spacing];
    const words = this.noise.words(3);
    planePoint(words, steps, column, row, this.#drawn);
    if (Number.isNaN(this.#drawn[0]) || Number.isNaN(this.#drawn[1])) {
      this.#drawn = settlePoint(words, scale, column, row, () => this.noise.more());
    }
    words.fill(0);
    this.#drawn[0] *= spacing;
    this.#drawn[1] *= spacing;
  }

  #inside(value, axis) {
    return Math.min(Math.max(value, 0), this.#screen.size[axis]);
  }

  /** Learn from a noisy point. */
  #released(now) {
    if (this.#filter) {
      const elapsed = this.#count > 0 ? now - this.#tick : 0;
      const width = LOSS_UNIT / this.#plan.loss;
      for (let axis = 0; axis < 2; axis++) {
        const belief = this.#belief[axis];
        if (this.#count > 0) this.#pass(belief, axis, elapsed);
        const surprise = this.#noisy[axis] - (this.#prior.centre[axis] + belief[0] + belief[1]);
        const [withU, withM] = [belief[2] + belief[3], belief[3] + belief[4]];
        const total = withU + withM + 3 * width * width;
        const [gainU, gainM] = [withU / total, withM / total];
        belief[0] += gainU * surprise;
        belief[1] += gainM * surprise;
        belief[2] -= gainU * withU;
        belief[3] -= gainU * withM;
        belief[4] -= gainM * withM;
      }
      if (this.#lagUs > 0) this.#remember(now - this.#origin);
    } else {
      this.#belief[0][0] = this.#inside(this.#noisy[0], 0);
      this.#belief[1][0] = this.#inside(this.#noisy[1], 1);
    }
    this.#tick = now;
    this.#count++;
  }

  #pass(belief, axis, elapsed) {
    const [fast, slow] = decays(elapsed);
    belief[0] *= fast;
    belief[1] *= slow;
    belief[2] = fast * fast * belief[2] + (1 - fast * fast) * this.#prior.wander[axis];
    belief[3] *= fast * slow;
    belief[4] = slow * slow * belief[4] + (1 - slow * slow) * this.#prior.offset[axis];
  }

  /** Where gaze is thought to be now: a function of what was released. */
  #estimate(now) {
    const [across, down] = this.#belief;
    const { centre } = this.#prior;
    if (!this.#filter) return this.#count ? [across[0], down[0]] : [...centre];
    const elapsed = this.#count > 0 ? now - this.#tick : 0;
    const fast = Math.exp(-elapsed / SETTLE_US);
    const slow = Math.exp(-elapsed / DRIFT_US);
    return [
      this.#inside(centre[0] + (fast * across[0] + slow * across[1]), 0),
      this.#inside(centre[1] + (fast * down[0] + slow * down[1]), 1),
    ];
  }

  #roomToLookBack(before) {
    const rows = this.#lagUs ? Math.ceil(this.#lagUs / this.#plan.periodUs) + 2 : 1;
    return before.slice(-rows);
  }

  /** Append the belief after a tick, and smooth the latest ones backwards (Rauch, Tung and Striebel). */
  #remember(now) {
    const rows = Math.ceil(this.#lagUs / this.#plan.periodUs) + 2;
    const belief = this.#belief.map((axis) => axis.slice());
    this.#past.push({ t: now, belief, smooth: belief.map((axis) => [axis[0], axis[1]]) });
    if (this.#past.length > rows) this.#past.shift();
    for (let row = this.#past.length - 2; row >= 0; row--) {
      const [here, after] = [this.#past[row], this.#past[row + 1]];
      const [fast, slow] = decays(after.t - here.t);
      for (let axis = 0; axis < 2; axis++) {
        const [u, m, uu, um, mm] = here.belief[axis];
        const aheadUu = fast * fast * uu + (1 - fast * fast) * this.#prior.wander[axis];
        const aheadUm = fast * slow * um;
        const aheadMm = slow * slow * mm + (1 - slow * slow) * this.#prior.offset[axis];
        const determinant = aheadUu * aheadMm - aheadUm * aheadUm;
        const newsU = after.smooth[axis][0] - fast * u;
        const newsM = after.smooth[axis][1] - slow * m;
        const shareU = (aheadMm * newsU - aheadUm * newsM) / determinant;
        const shareM = (aheadUu * newsM - aheadUm * newsU) / determinant;
        here.smooth[axis][0] = u + uu * fast * shareU + um * slow * shareM;
        here.smooth[axis][1] = m + um * fast * shareU + mm * slow * shareM;
      }
    }
  }

  /** Where gaze is thought to have been at an earlier time, from the ticks before and after it. */
  #lookingBack(then) {
    let row = this.#past.length - 1;
    while (row >= 0 && this.#past[row].t > then) row--;
    const [before, after] = [this.#past[row], this.#past[row + 1]];
    let [x, y] = this.#prior.centre;
    for (let part = 0; part < 2; part++) {
      const constant = part ? DRIFT_US : SETTLE_US;
      if (before) {
        const weight = weightOf(before, after, then, constant);
        x += weight * before.smooth[0][part];
        y += weight * before.smooth[1][part];
      }
      if (after) {
        const weight = weightOf(after, before, then, constant);
        x += weight * after.smooth[0][part];
        y += weight * after.smooth[1][part];
      }
    }
    return [this.#inside(x, 0), this.#inside(y, 1)];
  }
}

const SETTLE_US = EYES.settle * 1e6;
const DRIFT_US = EYES.drift * 1e6;

/** How much a tick says about a time, given the tick on the other side of it, if any. */
function weightOf(here, other, then, constant) {
  const weight = Math.exp(-Math.abs(then - here.t) / constant);
  if (!other) return weight;
  const [left, all] = [Math.abs(then - other.t), Math.abs(here.t - other.t)];
  return (weight * Math.expm1((-2 * left) / constant)) / Math.expm1((-2 * all) / constant);
}

const decays = (elapsed) => [Math.exp(-elapsed / SETTLE_US), Math.exp(-elapsed / DRIFT_US)];

const VEILS = {
  clock: [ClockVeil, ["epsilon", "window", "radius", "ticks", "lag", "filter", "content"]],
  gaussian: [GaussianVeil, ["sigma"]],
  temporal: [TemporalVeil, ["keep_every"]],
  spatial: [SpatialVeil, ["factor", "centred"]],
  smoothing: [SmoothingVeil, ["window", "start_with"]],
};

/**
 * Start a veil for one stream of gaze.
 * @param {object} recipe  As gazeveil writes them in Python (`mechanism.to_dict()`): {mechanism, space, …}.
 * @param {NoiseSource} noise  Where the random words come from.
 */
export function startVeil(recipe, noise = NoiseSource.secure()) {
  const { mechanism, space, ...given } = recipe ?? {};
  const names = Object.keys(VEILS);
  demand(names.includes(mechanism), `no mechanism is called ${String(mechanism)} in a page`, `known: ${names.join(", ")}`);
  const [kind, known] = VEILS[mechanism];
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  demand(!unknown.length, `${mechanism} has no parameter ${unknown.join(", ")}`, `it has ${known.join(", ")}`);
  return new kind(recipe, screenOf(space), noise, given);
}

// ------------------------------------------------------------------------------- between a tracker and your code

const pageSeconds = () => performance.now() / 1000;
const coordinate = (value) => (typeof value === "number" ? value : NaN); // null would become 0

/**
 * Return a listener for WebGazer, `webgazer.setGazeListener(veiledListener(veil, (gaze, elapsed) => …))`: yours gets
 * {x, y}, veiled, and nothing else of what WebGazer knows of the eyes. It is called whether or not eyes were found.
 */
export function veiledListener(veil, listener, clock = pageSeconds) {
  return (data, elapsed) => {
    veil.pace(clock());
    const [x, y] = veil.step(elapsed / 1000, coordinate(data?.x), coordinate(data?.y));
    listener({ x, y }, elapsed);
  };
}

/**
 * A jsPsych extension that takes the place of `jsPsychExtensionWebgazer` in your trials. That one must be given to
 * `initJsPsych` too, since it runs the camera; trials that list it would store raw gaze. Parameters: `veil`; `on_gaze`
 * gets {x, y, t} if you need gaze during a trial.
 */
export class VeiledGazeExtension {
  static info = {
    name: "gazeveil",
    version: VERSION,
    data: { gazeveil_data: { type: "COMPLEX", array: true }, gazeveil_guarantee: { type: "STRING" } },
  };

  #veil = null;
  #onGaze = () => {};
  #clock = pageSeconds;
  #cancel = () => {};
  #samples = [];
  #start = 0;

  constructor(jsPsych) {
    this.jsPsych = jsPsych;
  }

  async initialize({ veil, on_gaze: onGaze, clock } = {}) {
    demand(veil instanceof Veil, "the extension needs a veil", "params: {veil: startVeil(…)}");
    [this.#veil, this.#onGaze, this.#clock] = [veil, onGaze ?? this.#onGaze, clock ?? pageSeconds];
  }

  on_start() {
    this.#samples = [];
  }

  on_load() {
    const tracker = this.jsPsych.extensions.webgazer;
    demand(tracker, "WebGazer's own extension is missing", "give initJsPsych jsPsychExtensionWebgazer, too");
    this.#start = this.#clock();
    // Its own `t` begins anew with some trials: the page's clock does not.
    this.#cancel = tracker.onGazeUpdate((data) => {
      const now = this.#clock();
      this.#veil.pace(now);
      const [x, y] = this.#veil.step(now, coordinate(data?.x), coordinate(data?.y));
      const sample = { x, y, t: Math.round(1000 * (now - this.#start)) };
      this.#samples.push(sample);
      this.#onGaze({ ...sample });
    });
    tracker.resume();
    tracker.startSampleInterval();
  }

  on_finish() {
    const tracker = this.jsPsych.extensions.webgazer;
    tracker.stopSampleInterval();
    tracker.pause();
    this.#cancel();
    return { gazeveil_data: this.#samples, gazeveil_guarantee: this.#veil.guarantee.text };
  }
}

// --------------------------------------------------------------------------------------- a gateway's WebSocket

const PAUSES_MS = [500, 1000, 2000, 4000, 8000];
const POLICY = 1008;

/**
 * Get veiled gaze from a gateway. Returns {close, hello}; `hello()` is the latest greeting, null before there is one.
 * @param {string} url  Where the app's WebSocket is, for example ws://127.0.0.1:7381.
 * @param {object} callbacks  All optional: hello (greeting; `guarantee` says what is guaranteed; may come again),
 *   sample, fixation, hit, silence, end (reason), state ("connecting", "open", "waiting", "closed").
 */
export function connect(url, callbacks = {}) {
  const known = ["hello", "sample", "fixation", "hit", "silence", "end", "state"];
  const unknown = Object.keys(callbacks).filter((name) => !known.includes(name));
  demand(!unknown.length, `connect knows no callback ${unknown.join(", ")}`, `known: ${known.join(", ")}`);
  let [socket, timer, tries, greeting, over] = [null, null, 0, null, false];
  const tell = (name, ...values) => callbacks[name]?.(...values);

  function heard({ data }) {
    let message;
    try {
      message = JSON.parse(data);
    } catch {
      return; // not ours; the gateway writes nothing but JSON
    }
    if (message === null || typeof message !== "object") return;
    const type = message.type ?? "sample";
    if (type === "hello") {
      [greeting, tries] = [message, 0];
      tell("hello", message);
    } else if (type === "end") tell("end", message.reason);
    else if (known.includes(type) && type !== "state") tell(type, message);
  }

  function open() {
    tell("state", "connecting");
    socket = new WebSocket(url);
    socket.onopen = () => tell("state", "open");
    socket.onmessage = heard;
    socket.onclose = ({ code }) => {
      socket = null;
      if (over || code === POLICY) return tell("state", "closed"); // the policy ended it: coming again would not help
      tell("state", "waiting");
      timer = setTimeout(open, PAUSES_MS[Math.min(tries++, PAUSES_MS.length - 1)]);
    };
  }

  open();
  return {
    hello: () => greeting,
    close() {
      over = true;
      clearTimeout(timer);
      if (socket) socket.close();
      else tell("state", "closed");
    },
  };
}
