/* The limit for a GPT step: forward, backward and Adam of the packaged model, one document.
 *
 * A lane is a position. An activation is kept feature by feature, each a row of `pad` positions,
 * so that norms, softmaxes and the attention of all queries to one key go down the rows, and a
 * linear layer is a sum of rows, each times one weight. For the gradient of a weight matrix, which
 * is a sum over positions, its input is turned round first: then all three products of a layer
 * are the same one. Lanes behind the last position are computed too; they start at zero and their
 * share of the loss is zero, so that they add nothing to any gradient. Keys and values of the past
 * get their gradients from every later query.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vector.h"

enum { ROWS = 8, LINE = 64 / sizeof(double) };
#define EPSILON 1e-5
#define INLINE static inline __attribute__((always_inline))

/* What a block keeps for the way back. */
typedef struct {
    double *scale, *normed, *asked, *shares, *mixed, *scale_2, *normed_2, *relu, *hidden;
} kept;

typedef struct {
    size_t vocabulary, embedding, heads, layers, context, parameters, steps;
    double *memory, *parameter, *gradient, *mean, *square;
    double *x, *scale, *normed, *logits, *to_x, *to_wide, *to_asked, *to_shares, *turned;
    kept *blocks;
} gpt;

INLINE vec larger(vec x, vec y) { return where_not_below(x, y, x, y); }

INLINE double total(vec x) {
#if LANES == 8
    return _mm512_reduce_add_pd(x);
#else
    return (x[0] + x[1]) + (x[2] + x[3]);
#endif
}

/* In the group of lanes that begins at position `group`: yes from `first` on, no before. */
INLINE vec since(size_t group, size_t first, vec yes, vec no) {
    static const double COUNT[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    vec at = load(COUNT) + splat((double)group);
    return where_not_below(at, splat((double)first), yes, no);
}

/* The sum of products of two columns of `rows` vectors, four sums at a time. */
INLINE vec down(size_t rows, size_t pad, const double *x, const double *y) {
    vec sum[4] = {splat(0.0), splat(0.0), splat(0.0), splat(0.0)};
    size_t i = 0;
    for (; i + 4 <= rows; i += 4)
        for (size_t j = 0; j < 4; j++)
            sum[j] = fma_(load(x + (i + j) * pad), load(y + (i + j) * pad), sum[j]);
    for (; i < rows; i++) sum[0] = fma_(load(x + i * pad), load(y + i * pad), sum[0]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* ---- products --------------------------------------------------------------------------------- */

/* A matrix, its element (row, k) at w[row * step + k * across], times rows of `columns` numbers. */
typedef struct {
    size_t rows, inner, columns;
    const double *w, *x;
    double *y;
} factors;

INLINE void tiles(factors f, size_t step, size_t across) {
    for (size_t c = 0; c < f.columns; c += LANES) {
        const size_t column = c + LANES <= f.columns ? c : f.columns - LANES;
        for (size_t r = 0; r < f.rows; r += ROWS) {
            const size_t row = r + ROWS <= f.rows ? r : f.rows - ROWS;
            const double *w = f.w + row * step, *x = f.x + column;
            vec sum[ROWS];
            for (int i = 0; i < ROWS; i++) sum[i] = splat(0.0);
            for (size_t k = 0; k < f.inner; k++, w += across, x += f.columns) {
                vec at = load(x);
                for (int i = 0; i < ROWS; i++)
                    sum[i] = fma_(splat(w[(size_t)i * step]), at, sum[i]);
            }
            for (size_t i = 0; i < ROWS; i++) store(f.y + (row + i) * f.columns + column, sum[i]);
        }
    }
}

/* The last tile overlaps the one before; what is smaller than a tile goes number by number. The
 * strides that occur most are known to the compiler. */
static void product(factors f, size_t step, size_t across) {
    if (f.rows < ROWS || f.columns < LANES) {
        for (size_t r = 0; r < f.rows; r++)
            for (size_t c = 0; c < f.columns; c++) {
                double sum = 0.0;
                for (size_t k = 0; k < f.inner; k++)
                    sum += f.w[r * step + k * across] * f.x[k * f.columns + c];
                f.y[r * f.columns + c] = sum;
            }
    } else if (step == 1) {
        tiles(f, 1, across);
    } else if (step == 8) {
        tiles(f, 8, 1);
    } else if (step == 16) {
        tiles(f, 16, 1);
    } else if (step == 64) {
        tiles(f, 64, 1);
    } else {
        tiles(f, step, 1);
    }
}

/* y = W x */
static void linear(size_t out, size_t in, size_t pad, const double *w, const double *x, double *y) {
    product((factors){out, in, pad, w, x, y}, in, 1);
}

/* The gradients of W, and of x, from that of y. */
static void linear_back(gpt *m, size_t out, size_t in, size_t count, size_t pad, const double *w,
                        const double *x, const double *to_y, double *to_x) {
    double *restrict turned = m->turned;
    for (size_t t = 0; t < count; t++)
        for (size_t i = 0; i < in; i++) turned[t * in + i] = x[i * pad + t];
    product((factors){out, count, in, to_y, turned, m->gradient + (w - m->parameter)}, pad, 1);
    product((factors){in, out, pad, w, to_y, to_x}, 1, in);
}

/* ---- layers ----------------------------------------------------------------------------------- */

static void norm(size_t size, size_t pad, const double *x, double *scale, double *y) {
    for (size_t g = 0; g < pad; g += LANES) {
        vec mean = down(size, pad, x + g, x + g) * splat(1.0 / (double)size);
        vec by = reciprocal(root(mean + splat(EPSILON)));
        store(scale + g, by);
        for (size_t i = g; i < size * pad; i += pad) store(y + i, load(x + i) * by);
    }
}

/* Adds to `to`. */
static void norm_back(size_t size, size_t pad, const double *scale, const double *y,
                      const double *to_y, double *to) {
    for (size_t g = 0; g < pad; g += LANES) {
        vec by = load(scale + g), along = down(size, pad, to_y + g, y + g);
        along = along * splat(1.0 / (double)size);
        for (size_t i = g; i < size * pad; i += pad)
            store(to + i, fma_(by, fnma(load(y + i), along, load(to_y + i)), load(to + i)));
    }
}

/* One head: q, k, v and mixed are its `width` rows, shares one row for each key. */
static void attend(size_t width, size_t count, size_t pad, const double *q, const double *k,
                   const double *v, double *shares, double *mixed) {
    const vec scale = splat(1.0 / sqrt((double)width));
    for (size_t g = 0; g < pad; g += LANES) {
        const size_t keys = g + LANES < count ? g + LANES : count;
        vec top = splat(-INFINITY), sum = splat(0.0);
        for (size_t j = 0; j < keys; j++) {
            vec score = splat(0.0);
            for (size_t i = 0; i < width; i++)
                score = fma_(load(q + i * pad + g), splat(k[i * pad + j]), score);
            score = since(g, j, score * scale, splat(-INFINITY));
            store(shares + j * pad + g, score);
            top = larger(score, top);
        }
        for (size_t j = 0; j < keys; j++) {
            vec power = vexp(load(shares + j * pad + g) - top);
            sum = sum + power;
            store(shares + j * pad + g, power);
        }
        sum = splat(1.0) / sum;
        for (size_t j = 0; j < keys; j++)
            store(shares + j * pad + g, load(shares + j * pad + g) * sum);
        for (size_t i = 0; i < width; i++) {
            vec mix = splat(0.0);
            for (size_t j = 0; j < keys; j++)
                mix = fma_(load(shares + j * pad + g), splat(v[i * pad + j]), mix);
            store(mixed + i * pad + g, mix);
        }
    }
}

static void attend_back(size_t width, size_t count, size_t pad, const double *q, const double *k,
                        const double *v, const double *shares, const double *to_mixed, double *to_q,
                        double *to_k, double *to_v, double *to_scores) {
    const vec scale = splat(1.0 / sqrt((double)width));
    for (size_t g = 0; g < pad; g += LANES) {
        const size_t keys = g + LANES < count ? g + LANES : count;
        vec along = splat(0.0);
        for (size_t j = 0; j < keys; j++) {
            vec to_share = splat(0.0);
            for (size_t i = 0; i < width; i++)
                to_share = fma_(load(to_mixed + i * pad + g), splat(v[i * pad + j]), to_share);
            along = fma_(load(shares + j * pad + g), to_share, along);
            store(to_scores + j * pad + g, to_share);
        }
        for (size_t j = 0; j < keys; j++) {
            vec less = load(to_scores + j * pad + g) - along;
            store(to_scores + j * pad + g, load(shares + j * pad + g) * less * scale);
        }
        for (size_t i = 0; i < width; i++) {
            vec sum = splat(0.0);
            for (size_t j = 0; j < keys; j++)
                sum = fma_(load(to_scores + j * pad + g), splat(k[i * pad + j]), sum);
            store(to_q + i * pad + g, sum);
        }
    }
    for (size_t i = 0; i < width; i++) {
        for (size_t j = 0; j < count; j++) { /* a key and a value: from all queries since */
            vec key = splat(0.0), value = splat(0.0);
            for (size_t g = j / LANES * LANES; g < pad; g += LANES) {
                key = fma_(load(to_scores + j * pad + g), load(q + i * pad + g), key);
                value = fma_(load(shares + j * pad + g), load(to_mixed + i * pad + g), value);
            }
            to_k[i * pad + j] = total(key);
            to_v[i * pad + j] = total(value);
        }
        for (size_t j = count; j < pad; j++) to_k[i * pad + j] = to_v[i * pad + j] = 0.0;
    }
}

/* The mean surprise; the logits become their gradients. */
static double surprise(size_t vocabulary, size_t count, size_t pad, const int64_t *target,
                       double *logits) {
    const double share = 1.0 / (double)count;
    double loss = 0.0;
    for (size_t t = 0; t < count; t++) loss -= logits[(size_t)target[t] * pad + t];
    for (size_t g = 0; g < pad; g += LANES) {
        vec top = splat(-INFINITY), sum = splat(0.0), logarithm, seed;
        for (size_t i = g; i < vocabulary * pad; i += pad) top = larger(load(logits + i), top);
        for (size_t i = g; i < vocabulary * pad; i += pad) {
            vec power = vexp(load(logits + i) - top);
            sum = sum + power;
            store(logits + i, power);
        }
        seed = since(g, count, splat(0.0), splat(share) / sum);
        logarithm = since(g, count, splat(0.0), vlog(sum) + top);
        loss += total(logarithm);
        for (size_t i = g; i < vocabulary * pad; i += pad)
            store(logits + i, load(logits + i) * seed);
    }
    for (size_t t = 0; t < count; t++) logits[(size_t)target[t] * pad + t] -= share;
    return loss * share;
}

/* ---- the step --------------------------------------------------------------------------------- */

static void embed(gpt *m, size_t count, size_t pad, const int64_t *tokens) {
    const size_t size = m->embedding;
    const double *position = m->parameter + m->vocabulary * size;
    for (size_t t = 0; t < pad; t++) {
        const double *token = m->parameter + (t < count ? (size_t)tokens[t] * size : 0);
        for (size_t i = 0; i < size; i++)
            m->x[i * pad + t] = t < count ? token[i] + position[t * size + i] : 0.0;
    }
    norm(size, pad, m->x, m->scale, m->normed);
    memcpy(m->x, m->normed, size * pad * sizeof(double));
}

static void block(gpt *m, const kept *it, const double *w, size_t count, size_t pad) {
    const size_t size = m->embedding, all = size * pad, width = size / m->heads;
    double *x = m->x, *added = m->to_x;
    norm(size, pad, x, it->scale, it->normed);
    linear(3 * size, size, pad, w, it->normed, it->asked);
    for (size_t h = 0; h < m->heads; h++) {
        const double *q = it->asked + h * width * pad;
        attend(width, count, pad, q, q + all, q + 2 * all, it->shares + h * m->context * pad,
               it->mixed + h * width * pad);
    }
    linear(size, size, pad, w + 3 * size * size, it->mixed, added);
    for (size_t i = 0; i < all; i++) x[i] += added[i];
    norm(size, pad, x, it->scale_2, it->normed_2);
    linear(4 * size, size, pad, w + 4 * size * size, it->normed_2, it->relu);
    for (size_t i = 0; i < 4 * all; i++) {
        it->relu[i] = it->relu[i] > 0.0 ? it->relu[i] : 0.0;
        it->hidden[i] = it->relu[i] * it->relu[i];
    }
    linear(size, 4 * size, pad, w + 8 * size * size, it->hidden, added);
    for (size_t i = 0; i < all; i++) x[i] += added[i];
}

static void block_back(gpt *m, const kept *it, const double *w, size_t count, size_t pad) {
    const size_t size = m->embedding, all = size * pad, width = size / m->heads;
    double *wide = m->to_wide, *asked = m->to_asked, *narrow = m->x;
    linear_back(m, size, 4 * size, count, pad, w + 8 * size * size, it->hidden, m->to_x, wide);
    for (size_t i = 0; i < 4 * all; i++) wide[i] *= 2.0 * it->relu[i];
    linear_back(m, 4 * size, size, count, pad, w + 4 * size * size, it->normed_2, wide, narrow);
    norm_back(size, pad, it->scale_2, it->normed_2, narrow, m->to_x);
    linear_back(m, size, size, count, pad, w + 3 * size * size, it->mixed, m->to_x, narrow);
    for (size_t h = 0; h < m->heads; h++) {
        const size_t at = h * width * pad;
        const double *q = it->asked + at;
        attend_back(width, count, pad, q, q + all, q + 2 * all, it->shares + h * m->context * pad,
                    narrow + at, asked + at, asked + all + at, asked + 2 * all + at, m->to_shares);
    }
    linear_back(m, 3 * size, size, count, pad, w, it->normed, asked, narrow);
    norm_back(size, pad, it->scale, it->normed, narrow, m->to_x);
}

/* The loss of a document of `count` + 1 tokens, count at most the context; gradients are kept. */
double limit_gpt_differentiate(gpt *m, size_t count, const int64_t *tokens) {
    const size_t size = m->embedding, pad = (count + LANES - 1) / LANES * LANES;
    const size_t tables = (m->vocabulary + m->context) * size, each = 12 * size * size;
    const double *blocks = m->parameter + tables, *head = blocks + m->layers * each;
    embed(m, count, pad, tokens);
    for (size_t i = 0; i < m->layers; i++) block(m, &m->blocks[i], blocks + i * each, count, pad);
    linear(m->vocabulary, size, pad, head, m->x, m->logits);
    const double loss = surprise(m->vocabulary, count, pad, tokens + 1, m->logits);

    linear_back(m, m->vocabulary, size, count, pad, head, m->x, m->logits, m->to_x);
    for (size_t i = m->layers; i-- > 0;)
        block_back(m, &m->blocks[i], blocks + i * each, count, pad);
    memset(m->x, 0, size * pad * sizeof(double));
    norm_back(size, pad, m->scale, m->normed, m->to_x, m->x);
    memset(m->gradient, 0, tables * sizeof(double));
    for (size_t t = 0; t < count; t++) {
        double *token = m->gradient + (size_t)tokens[t] * size;
        double *position = m->gradient + (m->vocabulary + t) * size;
        for (size_t i = 0; i < size; i++) {
            token[i] += m->x[i * pad + t];
            position[i] = m->x[i * pad + t];
        }
    }
    return loss;
}

/* Adam. */
void limit_gpt_update(gpt *m, double rate, double beta_1, double beta_2, double epsilon) {
    m->steps++;
    const double all = (double)m->steps;
    const vec mean_by = splat(rate / (1.0 - pow(beta_1, all)));
    const vec root_by = splat(1.0 / sqrt(1.0 - pow(beta_2, all)));
    for (size_t i = 0; i < m->parameters; i += LANES) {
        vec g = load(m->gradient + i);
        vec mean = fma_(splat(beta_1), load(m->mean + i), splat(1.0 - beta_1) * g);
        vec square = fma_(splat(beta_2), load(m->square + i), splat(1.0 - beta_2) * g * g);
        vec by = reciprocal(fma_(root(square), root_by, splat(epsilon)));
        store(m->mean + i, mean);
        store(m->square + i, square);
        store(m->parameter + i, fnma(mean_by * mean, by, load(m->parameter + i)));
    }
}

/* ---- memory ----------------------------------------------------------------------------------- */

/* Room for so many numbers, a whole number of cache lines; where `memory` is null it only counts. */
static double *room(double *memory, size_t *used, size_t count) {
    double *here = memory ? memory + *used : NULL;
    *used += (count + LINE - 1) / LINE * LINE;
    return here;
}

static size_t lay_out(gpt *m, double *memory) {
    const size_t row = (m->context + LANES - 1) / LANES * LANES, size = m->embedding;
    const size_t shares = m->context * row;
    size_t used = 0;
    double **lists[] = {&m->parameter, &m->gradient, &m->mean, &m->square};
    for (int i = 0; i < 4; i++) *lists[i] = room(memory, &used, m->parameters);
    m->x = room(memory, &used, size * row);
    m->scale = room(memory, &used, row);
    m->normed = room(memory, &used, size * row);
    m->logits = room(memory, &used, m->vocabulary * row);
    m->to_x = room(memory, &used, size * row);
    m->to_wide = room(memory, &used, 4 * size * row);
    m->to_asked = room(memory, &used, 3 * size * row);
    m->to_shares = room(memory, &used, shares);
    m->turned = room(memory, &used, 4 * size * row);
    for (size_t i = 0; i < m->layers; i++) {
        kept *it = &m->blocks[i];
        it->scale = room(memory, &used, row);
        it->normed = room(memory, &used, size * row);
        it->asked = room(memory, &used, 3 * size * row);
        it->shares = room(memory, &used, m->heads * shares);
        it->mixed = room(memory, &used, size * row);
        it->scale_2 = room(memory, &used, row);
        it->normed_2 = room(memory, &used, size * row);
        it->relu = room(memory, &used, 4 * size * row);
        it->hidden = room(memory, &used, 4 * size * row);
    }
    return used * sizeof(double);
}

/* sizes: vocabulary, embedding, heads, layers, context; parameters in the order of state_dict(). */
gpt *limit_gpt_open(const size_t sizes[5], const double *parameters) {
    gpt *m = calloc(1, sizeof *m);
    memcpy(m, sizes, 5 * sizeof(size_t));
    const size_t size = m->embedding;
    m->parameters = (2 * m->vocabulary + m->context + 12 * m->layers * size) * size;
    m->blocks = calloc(m->layers, sizeof *m->blocks);
    const size_t bytes = lay_out(m, NULL);
    m->memory = aligned_alloc(64, bytes);
    memset(m->memory, 0, bytes);
    lay_out(m, m->memory);
    memcpy(m->parameter, parameters, m->parameters * sizeof(double));
    return m;
}

void limit_gpt_close(gpt *m) {
    free(m->memory);
    free(m->blocks);
    free(m);
}
