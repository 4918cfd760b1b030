// The functions a row of the law may call, over the whole range, as C's libm has them.
// JavaScript's own where they agree with C; written out where they differ or are missing.
const primitive = (() => {
  const { abs, acos, acosh, asin, asinh, atan, atan2, atanh, cos, cosh, exp, expm1, floor, hypot,
    log, log10, log1p, log2, sin, sinh, sqrt, tan, tanh } = Math;

  // JavaScript has NaN for 1**NaN and (-1)**Infinity, where C has 1.
  const pow = (x, y) => (x === 1 || (x === -1 && abs(y) === Infinity) ? 1 : x ** y);

  const fmod = (x, y) => x % y;

  // 2/sqrt(pi) e^(-x²) times a series without cancellation: for |x| up to 2.
  const series = (x) => {
    let term = x, total = x;
    for (let n = 1; abs(term) > abs(total) * 1e-17; n += 1) {
      term *= (2 * x * x) / (2 * n + 1);
      total += term;
    }
    return 1.1283791670955126 * exp(-x * x) * total;
  };

  // e^(-x²)/sqrt(pi) over a continued fraction: for x above 2; past 28 it underflows.
  const tail = (x) => {
    if (x > 28) return 0;
    let fraction = x;
    for (let n = 120; n > 0; n -= 1) fraction = x + n / 2 / fraction;
    const head = floor(x * 1048576) / 1048576; // x² exactly enough for its exponential
    return (exp(-head * head) * exp((head - x) * (head + x))) / (fraction * 1.772453850905516);
  };

  // What rounding took from a product, by splitting both factors in halves.
  const rest = (x, y, product) => {
    const xHigh = x * 134217729 - (x * 134217729 - x), xLow = x - xHigh;
    const yHigh = y * 134217729 - (y * 134217729 - y), yLow = y - yHigh;
    return ((xHigh * yHigh - product) + xHigh * yLow + xLow * yHigh) + xLow * yLow;
  };
  const bell = (a, scale) => {
    const square = a * a, e = exp(-scale * square);
    return e - e * (scale * rest(a, a, square));
  };

  const erf = (x) => (x !== x ? x : abs(x) <= 2 ? series(x) : x > 0 ? 1 - tail(x) : tail(-x) - 1);
  const erfc = (x) => (x !== x ? x : x > 2 ? tail(x) : x < -2 ? 2 - tail(-x) : 1 - series(x));

  // Rows computed as a whole, because their expression would lose digits: see ieee.py.
  const gauss = (x) => bell(abs(x) > 28 ? 28 : abs(x), 1);
  const norm_pdf = (x) => 0.3989422804014327 * bell(abs(x) > 40 ? 40 : abs(x), 0.5);
  const norm_cdf = (x) => {
    if (abs(x) > 40) return x > 0 ? 1 : 0;
    const a = -x * 0.7071067811865476;
    const more = rest(-x, 0.7071067811865476, a) - x * -4.833646656726457e-17;
    return 0.5 * (erfc(a) - more * (1.1283791670955126 * exp(-a * a)));
  };
  const gelu = (x) => {
    if (!(x < -37 && x > -Infinity)) return x * norm_cdf(x);
    const r = 1 / (x * x);
    const series =
      1 - r * (1 - 3 * r * (1 - 5 * r * (1 - 7 * r * (1 - 9 * r * (1 - 11 * r)))));
    return -(norm_pdf(x) * series);
  };
  const sech2 = (x) => {
    const e = exp(-2 * abs(x)), below = 1 + e * (2 + e);
    return e > 0.25 ? 1 - ((1 - e) * (1 - e)) / below : (4 * e) / below;
  };
  const silu = (x) => {
    const half = exp(0.5 * x), e = exp(-abs(x));
    return x < -700 ? x * half * half : x >= 0 ? x / (1 + e) : x * (e / (1 + e));
  };

  // Structural rows: what is added up, products of one item of each of `sides` lists; what is
  // chosen by the last operand.
  const added = (sides) => ({
    value: (numbers) => {
      const length = numbers.length / sides;
      let total = 0;
      for (let i = 0; i < length; i += 1) {
        let term = numbers[i];
        for (let side = 1; side < sides; side += 1) term *= numbers[i + side * length];
        total = i ? total + term : term;
      }
      return total;
    },
    partials: (numbers) => {
      const half = numbers.length / 2;
      return numbers.map((_, i) => (sides === 1 ? 1 : numbers[(i + half) % numbers.length]));
    },
  });
  const chosen = () => {
    const which = (numbers) =>
      Math.min(Math.max(Math.trunc(numbers[numbers.length - 1]), 0), numbers.length - 2);
    return {
      value: (numbers) => numbers[which(numbers)],
      partials: (numbers) => numbers.map((_, i) => (i === which(numbers) ? 1 : 0)),
    };
  };

  return { abs, acos, acosh, added, asin, asinh, atan, atan2, atanh, chosen, cos, cosh, erf, erfc, exp,
    expm1, floor, fmod, gauss, gelu, hypot, log, log10, log1p, log2, norm_cdf, norm_pdf, pow, sech2, silu, sin,
    sinh, sqrt, tan, tanh };
})();
