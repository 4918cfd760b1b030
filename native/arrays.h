/* Plans as Python objects: capsules that `array_plan` makes. */
#ifndef RG_NATIVE_ARRAYS_H
#define RG_NATIVE_ARRAYS_H

#include "retrograde.h"

#include "kernels/arrays.h"

/* The plan in a capsule; NULL with an exception where it is none. */
RgPlan *rg_plan_of_capsule(PyObject *capsule);

#endif
