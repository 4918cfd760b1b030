/* Division for a GPU, with the bits of `/`: divisions by one number share what they have in common,
 * and only what is far from 1, or no number, is left to a call of the compiler's own. */

/* Near 1 / x, to within 2^-19.9: what a GPU has an instruction for. */
#if defined(RG_EMULATED)
RG_DEVICE double rg_near_inverse(double x) { return 1.0 / x; }
#else
RG_DEVICE double rg_near_inverse(double x) {
    double near;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(near) : "d"(x));
    return near;
}
#endif

/* The high half of a number alone, three of its units further from 0. */
RG_DEVICE double rg_beyond(double x) {
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits & ~(int64_t)0xffffffff) + ((int64_t)3 << 32);
    memcpy(&x, &bits, sizeof bits);
    return x;
}

/* Whether x is from 2^-500 to 2^500, or minus that. */
RG_DEVICE int rg_is_tame(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return ((uint32_t)(bits >> 32) << 1) - (523u << 21) < (1000u << 21);
}

/* 1 / x for a tame x, rounded to nearest: Markstein's theorem, for which the last step must begin less
 * than a unit from the truth (0.76 here). Its exception, a significand of ones alone, comes out right
 * too: the first guess is beyond the truth, and so is what the cubic step makes of it. */
RG_DEVICE double rg_inverse(double x) {
    double y = rg_beyond(rg_near_inverse(x));
    double e = RG_FMA(-x, y, 1.0);
    y = RG_FMA(y, RG_FMA(e, e, e), y);
    return RG_FMA(y, RG_FMA(-x, y, 1.0), y);
}
#define RG_INVERSE(x) rg_inverse(x)

CALLED double rg_divided(double x, double y) { return x / y; }

/* 1 / y, by the inverse of y. */
RG_DEVICE double rg_one_over(double y, double inverse) {
    return rg_is_tame(y) ? inverse : rg_divided(1.0, y);
}

/* x / y, by the inverse of y: the first step leaves less than a unit, after which Markstein's theorem
 * gives the second the right rounding. */
RG_DEVICE double rg_over(double x, double y, double inverse) {
    double q = x * inverse;
    q = RG_FMA(RG_FMA(-y, q, x), inverse, q);
    q = RG_FMA(RG_FMA(-y, q, x), inverse, q);
    return rg_is_tame(x) & rg_is_tame(y) ? q : rg_divided(x, y);
}
