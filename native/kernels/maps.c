/* The rows of the scalar law over contiguous numbers, at one SIMD level, and the level's table.
 *
 * An operand that is one number is read again and again from a vector of it. Short rows have their
 * last, shorter vector after the loop; the others in it, so that they are compiled once. */
#include "arrays.h"
#include "parts.h"
#include "vmath_erf.h"
#include "vmath_exp.h"
#include "vmath_trig.h"

#include "rows.gen.h"

#include "maps.gen.h"

/* Operand AT, if a kernel reads it: where it stands, how far a vector moves it, and room for one
 * number that stands for all. */
#define OPERAND(NAME, AT, READS)                                                                   \
    const double *NAME = in[AT];                                                                   \
    double NAME##_all[LANES];                                                                      \
    Count NAME##_step = 0;                                                                         \
    if (READS) {                                                                                   \
        NAME##_step = step[AT] * LANES;                                                            \
        if (!NAME##_step) {                                                                        \
            v_store(NAME##_all, v_set(*NAME));                                                     \
            NAME = NAME##_all;                                                                     \
        }                                                                                          \
    }
#define WHOLE(NAME, READS) ((READS) ? v_load(NAME) : v_set(0.0))
#define SECOND(NAME, READS) ((READS) ? v_load(NAME + NAME##_step) : v_set(0.0))
#define PARTLY(NAME, READS) ((READS) ? load_part(NAME, part) : v_set(0.0))
#define ON(NAME, READS)                                                                            \
    if (READS) NAME += NAME##_step;
#define ON_TWICE(NAME, READS)                                                                      \
    if (READS) NAME += 2 * NAME##_step;

/* ---- forward ---- */

#define FORWARD(NAME, MASK, SHORT)                                                                 \
    static void forward_##NAME(Count n, double *out, const double *const in[3],                    \
                               const Count step[3]) {                                              \
        OPERAND(a, 0, MASK & 1)                                                                    \
        OPERAND(b, 1, MASK & 2)                                                                    \
        OPERAND(c, 2, MASK & 4)                                                                    \
        if (SHORT) {                                                                               \
            for (; n >= 2 * LANES; n -= 2 * LANES, out += 2 * LANES) {                             \
                vd one = rgm_##NAME(WHOLE(a, MASK & 1), WHOLE(b, MASK & 2), WHOLE(c, MASK & 4));   \
                vd two =                                                                           \
                    rgm_##NAME(SECOND(a, MASK & 1), SECOND(b, MASK & 2), SECOND(c, MASK & 4));     \
                v_store(out, one);                                                                 \
                v_store(out + LANES, two);                                                         \
                ON_TWICE(a, MASK & 1) ON_TWICE(b, MASK & 2) ON_TWICE(c, MASK & 4)                  \
            }                                                                                      \
            for (; n >= LANES; n -= LANES, out += LANES) {                                         \
                v_store(out,                                                                       \
                        rgm_##NAME(WHOLE(a, MASK & 1), WHOLE(b, MASK & 2), WHOLE(c, MASK & 4)));   \
                ON(a, MASK & 1) ON(b, MASK & 2) ON(c, MASK & 4)                                    \
            }                                                                                      \
            if (n) {                                                                               \
                Part part = part_of(n);                                                            \
                store_part(                                                                        \
                    out, part,                                                                     \
                    rgm_##NAME(PARTLY(a, MASK & 1), PARTLY(b, MASK & 2), PARTLY(c, MASK & 4)));    \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (; n > 0; n -= LANES, out += LANES) {                                                  \
            int whole = n >= LANES;                                                                \
            Part part = part_of(whole ? LANES : n);                                                \
            vd av = whole ? WHOLE(a, MASK & 1) : PARTLY(a, MASK & 1);                              \
            vd bv = whole ? WHOLE(b, MASK & 2) : PARTLY(b, MASK & 2);                              \
            vd cv = whole ? WHOLE(c, MASK & 4) : PARTLY(c, MASK & 4);                              \
            vd result = rgm_##NAME(av, bv, cv);                                                    \
            if (whole)                                                                             \
                v_store(out, result);                                                              \
            else                                                                                   \
                store_part(out, part, result);                                                     \
            ON(a, MASK & 1) ON(b, MASK & 2) ON(c, MASK & 4)                                        \
        }                                                                                          \
    }
RG_FORWARD_MAPS(FORWARD)

/* ---- a partial times the upstream gradient ---- */

#define LANES_OF(HOW, MASK)                                                                        \
    HOW(a, MASK & 1), HOW(b, MASK & 2), HOW(c, MASK & 4), HOW(r, MASK & 8), HOW(g, 1)

#define PARTIAL(NAME, NUMBER, MASK, SHORT)                                                         \
    static void partial_##NAME##_##NUMBER(Count n, double *out, const double *const in[RG_BACK],   \
                                          const Count step[RG_BACK], RgHow how) {                  \
        OPERAND(a, 0, MASK & 1)                                                                    \
        OPERAND(b, 1, MASK & 2)                                                                    \
        OPERAND(c, 2, MASK & 4)                                                                    \
        OPERAND(r, RG_RESULT_AT, MASK & 8)                                                         \
        OPERAND(g, RG_UPSTREAM_AT, 1)                                                              \
        if (SHORT) {                                                                               \
            for (; n >= LANES; n -= LANES, out += LANES) {                                         \
                vd amount = rgm_##NAME##_d##NUMBER(LANES_OF(WHOLE, MASK));                         \
                v_store(out, how == RG_ADD ? v_add(v_load(out), amount) : amount);                 \
                ON(a, MASK & 1) ON(b, MASK & 2) ON(c, MASK & 4) ON(r, MASK & 8) ON(g, 1)           \
            }                                                                                      \
            if (n) {                                                                               \
                Part part = part_of(n);                                                            \
                vd amount = rgm_##NAME##_d##NUMBER(LANES_OF(PARTLY, MASK));                        \
                if (how == RG_ADD) amount = v_add(load_part(out, part), amount);                   \
                store_part(out, part, amount);                                                     \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (; n > 0; n -= LANES, out += LANES) {                                                  \
            int whole = n >= LANES;                                                                \
            Part part = part_of(whole ? LANES : n);                                                \
            vd av = whole ? WHOLE(a, MASK & 1) : PARTLY(a, MASK & 1);                              \
            vd bv = whole ? WHOLE(b, MASK & 2) : PARTLY(b, MASK & 2);                              \
            vd cv = whole ? WHOLE(c, MASK & 4) : PARTLY(c, MASK & 4);                              \
            vd rv = whole ? WHOLE(r, MASK & 8) : PARTLY(r, MASK & 8);                              \
            vd gv = whole ? WHOLE(g, 1) : PARTLY(g, 1);                                            \
            vd amount = rgm_##NAME##_d##NUMBER(av, bv, cv, rv, gv);                                \
            if (how == RG_ADD) amount = v_add(whole ? v_load(out) : load_part(out, part), amount); \
            if (whole)                                                                             \
                v_store(out, amount);                                                              \
            else                                                                                   \
                store_part(out, part, amount);                                                     \
            ON(a, MASK & 1) ON(b, MASK & 2) ON(c, MASK & 4) ON(r, MASK & 8) ON(g, 1)               \
        }                                                                                          \
    }
RG_PARTIAL_MAPS(PARTIAL)

/* ---- operands that do not lie side by side ---- */

/* to[r, i] = from[r * line + i * next]: up to a vector's worth of numbers behind them is written. */
static void lay(Count lines, Count n, double *to, const double *from, Count line, Count next) {
    Count whole = n / LANES * LANES;
    Part part = part_of(n - whole);
    for (Count r = 0; r < lines; r++, from += line, to += n) {
        Count i = 0;
        if (next == 1) {
            for (; i < whole; i += LANES) v_store(to + i, v_load(from + i));
            if (i < n) v_store(to + i, load_part(from + i, part));
        } else if (next == 0) {
            vd all = v_set(*from);
            for (; i < n; i += LANES) v_store(to + i, all);
        } else {
            for (; i < n; i++) to[i] = from[i * next];
        }
    }
}

#define FORWARD_ENTRY(NAME, MASK, SHORT) [RG_OP_##NAME] = forward_##NAME,
#define PARTIAL_ENTRY(NAME, NUMBER, MASK, SHORT) [RG_OP_##NAME][NUMBER] = partial_##NAME##_##NUMBER,

#define JOIN(A, B) A##B
#define NAMED(TABLE, LEVEL) JOIN(TABLE, LEVEL)
#define TEXT(X) #X
#define QUOTED(X) TEXT(X)

const RgArrays NAMED(rg_arrays_, RG_LEVEL) = {
    .level = QUOTED(RG_LEVEL),
    .products = &NAMED(rg_products_, RG_LEVEL),
    .descent = &NAMED(rg_descent_, RG_LEVEL),
    .lay = lay,
    .forward = {RG_FORWARD_MAPS(FORWARD_ENTRY)},
    .partial = {RG_PARTIAL_MAPS(PARTIAL_ENTRY)},
};
