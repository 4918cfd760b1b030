"""The routines of the law, and fmod, in as many digits as asked for: from their definitions, by
mpmath, sharing nothing with the polynomials that the law spells out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

APART = 200
"""Bits between two numbers one of which may be taken for infinitely small beside the other."""


def exact_special(
    mp: Any, exp: Callable[[Any], Any], expm1: Callable[[Any], Any]
) -> dict[str, Callable[..., Any]]:
    """Each by its name, computing at the precision that is set; with exponentials that are quick
    however far out.
    """

    def log_gamma(x: Any) -> Any:
        for zero in (1, 2):  # there mpmath's own takes seconds for thousands of bits
            d = x - zero
            if abs(d) < mp.ldexp(1, -20):
                terms = (mp.zeta(k) / k * (-d) ** k for k in range(2, 12))
                return mp.fsum(terms) - mp.euler * d + (zero - 1) * mp.log1p(d)
        return mp.re(mp.loggamma(x))

    def psi(order: int, x: Any) -> Any:
        """Reflected below 0, where mpmath's own climbs up step by step."""
        if x > 0:
            return mp.psi(order, x)
        turn = mp.pi / mp.sinpi(x)
        if order == 0:
            return mp.psi(0, 1 - x) - turn * mp.cospi(x)
        return turn**2 - mp.psi(1, 1 - x)

    def erfcx(x: Any) -> Any:
        if x < -1e10:
            raise ValueError("far beyond every double")
        if x < 60:
            return mp.exp(x * x) * mp.erfc(x)
        term = total = mp.one
        for k in range(1, 4000):
            term *= -(2 * k - 1) / (2 * x * x)
            total += term
            if abs(term) < mp.eps:
                break
        return total / (x * mp.sqrt(mp.pi))

    def erfcx_slope(x: Any) -> Any:
        with mp.extraprec(max(0, 2 * mp.mag(x)) + 20):
            return 2 * x * erfcx(x) - 2 / mp.sqrt(mp.pi)

    def lower_quantile(p: Any) -> Any:
        """Φ(z) = p by Newton's method on ln Φ, for p up to 1/2."""
        root = mp.sqrt(2)
        z = -mp.sqrt(-2 * mp.log(p)) if p < 0.1 else (2 * p - 1) * mp.sqrt(mp.pi / 2)
        for _ in range(100):
            scaled = erfcx(-z / root) / 2
            step = (mp.log(scaled) - z * z / 2 - mp.log(p)) * scaled * mp.sqrt(2 * mp.pi)
            z -= step
            if abs(step) <= abs(z) * mp.ldexp(1, 10 - mp.prec // 2):
                break
        else:
            raise ValueError("Newton's method went astray")
        return z - (mp.log(erfcx(-z / root) / 2) - z * z / 2 - mp.log(p)) * scaled * mp.sqrt(
            2 * mp.pi
        )

    def ndtri(p: Any) -> Any:
        if not 0 < p < 1:
            raise ValueError("no probability")
        return erfinv(2 * p - 1) * mp.sqrt(2) if abs(p - 0.5) < 0.25 else (
            lower_quantile(p) if p < 0.5 else -lower_quantile(1 - p)
        )  # fmt: skip

    def erfinv(x: Any) -> Any:
        if not -1 < x < 1:
            raise ValueError("erf stays between -1 and 1")
        if abs(x) >= 0.5:
            return (mp.one if x > 0 else -mp.one) * -lower_quantile((1 - abs(x)) / 2) / mp.sqrt(2)
        z = x * mp.sqrt(mp.pi) / 2
        for _ in range(100):
            step = (mp.erf(z) - x) * mp.sqrt(mp.pi) / 2 * mp.exp(z * z)
            z -= step
            if abs(step) <= abs(z) * mp.ldexp(1, 10 - mp.prec // 2):
                break
        return z - (mp.erf(z) - x) * mp.sqrt(mp.pi) / 2 * mp.exp(z * z)

    def positive(*inputs: Any) -> None:
        if min(inputs) < 0:
            raise ValueError("for positive inputs")

    def log_beta(x: Any, y: Any) -> Any:
        positive(x, y)
        a, b = min(x, y), max(x, y)
        if a < mp.ldexp(b, -APART):  # to as many bits, and mpmath would need thousands
            return mp.loggamma(a) - a * mp.psi(0, b)
        return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)

    def psi_drop(x: Any, y: Any) -> Any:
        positive(x, y)
        if y < mp.ldexp(x, -APART):
            return -y * mp.psi(1, x)
        return mp.psi(0, x) - mp.psi(0, x + y)

    def sinc(x: Any) -> Any:
        return mp.sinpi(x) / (mp.pi * x) if x else mp.one

    def sinc_slope(x: Any) -> Any:
        return (mp.cospi(x) - sinc(x)) / x if x else mp.zero

    def fmod(x: Any, y: Any) -> Any:
        with mp.workprec(8000):
            ratio = x / y
            if abs(ratio) > 2**60 and y.man.bit_length() > 53:
                raise ValueError("no double, and too often folded for a slope to show")
            return x - y * (mp.floor(ratio) if ratio > 0 else mp.ceil(ratio))

    def gate(x: Any) -> Any:
        return mp.tanh(mp.log1p(exp(x)))

    return {
        "log_gamma": log_gamma,
        "psi": lambda x: psi(0, x),
        "psi1": lambda x: psi(1, x),
        "log_beta": log_beta,
        "psi_drop": psi_drop,
        "scaled_erfc": erfcx,
        "scaled_erfc_slope": erfcx_slope,
        "inverse_erf": erfinv,
        "normal_quantile": ndtri,
        "sine_cardinal": sinc,
        "sine_cardinal_slope": sinc_slope,
        "cube_root": lambda x: mp.cbrt(x) if x >= 0 else -mp.cbrt(-x),
        "growth_gap": lambda x: expm1(x) - x * exp(x),
        "gated_by_softplus": lambda x: x * gate(x),
        "gated_by_softplus_slope": lambda x: gate(x) + x * (1 - gate(x) ** 2) / (1 + exp(-x)),
        "fmod": fmod,
    }
