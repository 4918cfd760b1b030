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

  const erf = (x) => (x !== x ? x : abs(x) <= 2 ? series(x) : x > 0 ? 1 - tail(x) : tail(-x) - 1);
  const erfc = (x) => (x !== x ? x : x > 2 ? tail(x) : x < -2 ? 2 - tail(-x) : 1 - series(x));

  return { abs, acos, acosh, asin, asinh, atan, atan2, atanh, cos, cosh, erf, erfc, exp, expm1,
    floor, fmod, hypot, log, log10, log1p, log2, pow, sin, sinh, sqrt, tan, tanh };
})();
