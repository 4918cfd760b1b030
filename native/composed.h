/* Compositions of rows, traced once: what they are found by, and the steps they come to. */
#ifndef RETROGRADE_COMPOSED_H
#define RETROGRADE_COMPOSED_H

#include "ready.h"

RG_HIDE

enum { MOST_SLOTS = 96, MOST_OPERANDS = 32, MOST_WHOLES = 4, MOST_KEY = 512 };

typedef enum { MAP, ROW, MATMUL, SUM, STOP } RgTracedKind;

typedef struct {
    RgTracedKind kind;
    int code;    /* of a map */
    int flat;    /* no gradient passes through what it makes */
    int skipped; /* where the last of the steps that make a shift makes it alone */
    int shifts;  /* of that one: the place of what is shifted, else -1 */
    RgReady *ready;
    int count;
    int16_t *slot;             /* operands; below 0: a number */
    int8_t whole[MOST_WHOLES]; /* which of the call's whole numbers a ready row takes */
} RgTracedStep;

typedef struct {
    PyObject_HEAD int known; /* else Python does it */
    int fused;               /* whether there are such steps */
    int operands, steps, result;
    RgTracedStep *step;
    PyObject *numbers; /* a tuple of floats */
    uint64_t hash;
    size_t key_size;
    unsigned char *key;
} RgProgram;

/* What a call is found by: its name, shapes and arguments. */
typedef struct {
    size_t size;
    int full;
    unsigned char bytes[MOST_KEY];
} RgKey;

/* keys.c */
void rg_key_tag(RgKey *key, unsigned char tag, unsigned char more);
void rg_key_text(RgKey *key, PyObject *text);
void rg_key_shape(RgKey *key, unsigned char tag, int ndim, const Py_ssize_t *shape);
void rg_key_argument(RgKey *key, PyObject *argument);
void rg_key_operand(RgKey *key, PyObject *operand);
uint64_t rg_key_hash(const RgKey *key);

/* traced.c */
int rg_programs_begin(void);
RgProgram *rg_program_new(int operands);
int rg_program_read(RgProgram *program, PyObject *traced);

RG_HIDE_END

#endif
