/* A GPT step as one writes it by hand in plain C: forward and backward, position after position,
 * one document. Matrices lie as the packaged model has them, loops are left to the compiler
 * (-O3 -march=native -ffast-math). It is for orientation: gpt.c is the limit. */
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { VOCABULARY = 27, SIZE = 16, HEADS = 4, WIDTH = SIZE / HEADS, HIDDEN = 64, CONTEXT = 16 };
enum { SQUARE = SIZE * SIZE, WIDE = SIZE * HIDDEN, TABLE = VOCABULARY * SIZE };

/* Where each matrix begins, in the order of state_dict(). */
enum {
    TOKEN = 0,
    POSITION = TOKEN + TABLE,
    QUERY = POSITION + CONTEXT * SIZE,
    KEY = QUERY + SQUARE,
    VALUE = KEY + SQUARE,
    OUTPUT = VALUE + SQUARE,
    UP = OUTPUT + SQUARE,
    DOWN = UP + WIDE,
    HEAD = DOWN + WIDE,
    ALL = HEAD + TABLE
};

typedef double Row[SIZE];
static double parameter[ALL], gradient[ALL];
static Row sum[CONTEXT], embedded[CONTEXT], normed[CONTEXT], query[CONTEXT], key[CONTEXT],
    value[CONTEXT], mixed[CONTEXT], middle[CONTEXT], normed_2[CONTEXT], last[CONTEXT];
static Row to_query[CONTEXT], to_key[CONTEXT], to_value[CONTEXT], to_embedded[CONTEXT];
static double scale[CONTEXT], scale_1[CONTEXT], scale_2[CONTEXT];
static double share[HEADS][CONTEXT][CONTEXT];
static double relu[CONTEXT][HIDDEN], hidden[CONTEXT][HIDDEN], chance[CONTEXT][VOCABULARY];

static double norm(const double *x, double *y) {
    double squares = 0.0;
    for (int i = 0; i < SIZE; i++) squares += x[i] * x[i];
    double by = 1.0 / sqrt(squares / SIZE + 1e-5);
    for (int i = 0; i < SIZE; i++) y[i] = x[i] * by;
    return by;
}

/* Adds to `to`. */
static void norm_back(const double *y, double by, const double *to_y, double *to) {
    double along = 0.0;
    for (int i = 0; i < SIZE; i++) along += to_y[i] * y[i];
    for (int i = 0; i < SIZE; i++) to[i] += by * (to_y[i] - y[i] * along / SIZE);
}

static inline void linear(int at, const double *x, double *y, int out, int in) {
    const double *w = parameter + at;
    for (int i = 0; i < out; i++) {
        double total = 0.0;
        for (int j = 0; j < in; j++) total += w[i * in + j] * x[j];
        y[i] = total;
    }
}

/* Adds to the gradients of the matrix and of x. */
static inline void linear_back(int at, const double *x, const double *to_y, double *to_x, int out,
                               int in) {
    const double *w = parameter + at;
    double *to_w = gradient + at;
    for (int i = 0; i < out; i++)
        for (int j = 0; j < in; j++) {
            to_w[i * in + j] += to_y[i] * x[j];
            to_x[j] += to_y[i] * w[i * in + j];
        }
}

/* One position asks those up to it. */
static void attend(int t) {
    for (int h = 0; h < HEADS; h++) {
        const int at = h * WIDTH;
        double *shares = share[h][t], top = -INFINITY, total = 0.0;
        for (int j = 0; j <= t; j++) {
            double score = 0.0;
            for (int i = at; i < at + WIDTH; i++) score += query[t][i] * key[j][i];
            shares[j] = score / 2.0; /* the root of WIDTH */
            if (shares[j] > top) top = shares[j];
        }
        for (int j = 0; j <= t; j++) total += shares[j] = exp(shares[j] - top);
        for (int j = 0; j <= t; j++) shares[j] /= total;
        for (int i = at; i < at + WIDTH; i++) {
            double mix = 0.0;
            for (int j = 0; j <= t; j++) mix += shares[j] * value[j][i];
            mixed[t][i] = mix;
        }
    }
}

static void attend_back(int t, const double *to_mixed) {
    for (int h = 0; h < HEADS; h++) {
        const int at = h * WIDTH;
        const double *shares = share[h][t];
        double to_share[CONTEXT], along = 0.0;
        for (int j = 0; j <= t; j++) {
            to_share[j] = 0.0;
            for (int i = at; i < at + WIDTH; i++) {
                to_share[j] += to_mixed[i] * value[j][i];
                to_value[j][i] += shares[j] * to_mixed[i];
            }
            along += shares[j] * to_share[j];
        }
        for (int j = 0; j <= t; j++) {
            double to_score = shares[j] * (to_share[j] - along) / 2.0;
            for (int i = at; i < at + WIDTH; i++) {
                to_query[t][i] += to_score * key[j][i];
                to_key[j][i] += to_score * query[t][i];
            }
        }
    }
}

/* The surprise at the next token; `chance` becomes the chances of all. */
static double surprise(double *logits, int64_t next) {
    double top = logits[0], total = 0.0, chosen = logits[next];
    for (int i = 1; i < VOCABULARY; i++) top = logits[i] > top ? logits[i] : top;
    for (int i = 0; i < VOCABULARY; i++) total += logits[i] = exp(logits[i] - top);
    for (int i = 0; i < VOCABULARY; i++) logits[i] /= total;
    return log(total) + top - chosen;
}

static double forward(int t, const int64_t *tokens) {
    for (int i = 0; i < SIZE; i++)
        sum[t][i] = parameter[TOKEN + tokens[t] * SIZE + i] + parameter[POSITION + t * SIZE + i];
    scale[t] = norm(sum[t], embedded[t]);
    scale_1[t] = norm(embedded[t], normed[t]);
    linear(QUERY, normed[t], query[t], SIZE, SIZE);
    linear(KEY, normed[t], key[t], SIZE, SIZE);
    linear(VALUE, normed[t], value[t], SIZE, SIZE);
    attend(t);
    linear(OUTPUT, mixed[t], middle[t], SIZE, SIZE);
    for (int i = 0; i < SIZE; i++) middle[t][i] += embedded[t][i];
    scale_2[t] = norm(middle[t], normed_2[t]);
    linear(UP, normed_2[t], relu[t], HIDDEN, SIZE);
    for (int i = 0; i < HIDDEN; i++) {
        relu[t][i] = relu[t][i] > 0.0 ? relu[t][i] : 0.0;
        hidden[t][i] = relu[t][i] * relu[t][i];
    }
    linear(DOWN, hidden[t], last[t], SIZE, HIDDEN);
    for (int i = 0; i < SIZE; i++) last[t][i] += middle[t][i];
    linear(HEAD, last[t], chance[t], VOCABULARY, SIZE);
    return surprise(chance[t], tokens[t + 1]);
}

/* Down to what the position asked; its keys and values wait for the positions before. */
static void backward(int t, int count, int64_t next) {
    double to_logits[VOCABULARY], to_hidden[HIDDEN] = {0.0};
    Row to_last = {0.0}, to_normed = {0.0}, to_mixed = {0.0};
    for (int i = 0; i < VOCABULARY; i++) to_logits[i] = chance[t][i] / count;
    to_logits[next] -= 1.0 / count;
    linear_back(HEAD, last[t], to_logits, to_last, VOCABULARY, SIZE);
    linear_back(DOWN, hidden[t], to_last, to_hidden, SIZE, HIDDEN);
    for (int i = 0; i < HIDDEN; i++) to_hidden[i] *= 2.0 * relu[t][i];
    linear_back(UP, normed_2[t], to_hidden, to_normed, HIDDEN, SIZE);
    norm_back(normed_2[t], scale_2[t], to_normed, to_last);
    linear_back(OUTPUT, mixed[t], to_last, to_mixed, SIZE, SIZE);
    memcpy(to_embedded[t], to_last, sizeof(Row));
    attend_back(t, to_mixed);
}

static void backward_below(int t, int64_t token) {
    Row to_normed = {0.0}, to_sum = {0.0};
    linear_back(QUERY, normed[t], to_query[t], to_normed, SIZE, SIZE);
    linear_back(KEY, normed[t], to_key[t], to_normed, SIZE, SIZE);
    linear_back(VALUE, normed[t], to_value[t], to_normed, SIZE, SIZE);
    norm_back(normed[t], scale_1[t], to_normed, to_embedded[t]);
    norm_back(embedded[t], scale[t], to_embedded[t], to_sum);
    for (int i = 0; i < SIZE; i++) {
        gradient[TOKEN + token * SIZE + i] += to_sum[i];
        gradient[POSITION + t * SIZE + i] += to_sum[i];
    }
}

void plain_gpt_take(const double *numbers) { memcpy(parameter, numbers, sizeof parameter); }
void plain_gpt_gradient(double *to) { memcpy(to, gradient, sizeof gradient); }

/* The loss of a document of `count` + 1 tokens; gradients are kept. */
double plain_gpt(int64_t count, const int64_t *tokens) {
    double loss = 0.0;
    memset(gradient, 0, sizeof gradient);
    memset(to_query, 0, sizeof to_query);
    memset(to_key, 0, sizeof to_key);
    memset(to_value, 0, sizeof to_value);
    for (int t = 0; t < count; t++) loss += forward(t, tokens);
    for (int t = (int)count; t-- > 0;) backward(t, (int)count, tokens[t + 1]);
    for (int t = (int)count; t-- > 0;) backward_below(t, tokens[t]);
    return loss / (double)count;
}
