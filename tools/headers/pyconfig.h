/* What Python's headers ask of a system, for compile checks of 64-bit systems other than this one.
 *
 * An interpreter brings a pyconfig.h of its own; this one only lets its other headers be read for
 * the systems in tools/compile_matrix.py. Nothing that is made with it is meant to be run. */
#ifndef Py_PYCONFIG_H
#define Py_PYCONFIG_H

#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_UINTPTR_T 8
#define SIZEOF_TIME_T 8
#define SIZEOF_FLOAT 4
#define SIZEOF_DOUBLE 8
#define SIZEOF__BOOL 1
#define ALIGNOF_SIZE_T 8
#define ALIGNOF_MAX_ALIGN_T 16
#define DOUBLE_IS_LITTLE_ENDIAN_IEEE754 1
#define HAVE_LONG_LONG 1
#define HAVE_WCHAR_H 1
#define HAVE_STDARG_PROTOTYPES 1
#define HAVE_PROTOTYPES 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_STDDEF_H 1
#define HAVE_ERRNO_H 1
#define HAVE_BUILTIN_ATOMIC 1
#define HAVE_STD_ATOMIC 1
#define WITH_DOC_STRINGS 1
#define WITH_PYMALLOC 1
#define WITH_THREAD 1

#if defined(_WIN32)
#define MS_WINDOWS
#define MS_WIN32
#define MS_WIN64
#define NT_THREADS
#define PLATFORM "win32"
#define SIZEOF_LONG 4
#define SIZEOF_WCHAR_T 2
#define SIZEOF_PID_T 4
#define SIZEOF_OFF_T 4
#define SIZEOF_FPOS_T 8
#define SIZEOF_HKEY 8
#define HAVE_DECLSPEC_DLL
#define Py_ENABLE_SHARED 1
#define HAVE_IO_H 1
#define HAVE_DIRECT_H 1
#define HAVE_PROCESS_H 1
#define PY_FORMAT_SIZE_T "I64"
typedef long long Py_ssize_t;
#define HAVE_PY_SSIZE_T 1
#define PY_SSIZE_T_MAX 0x7fffffffffffffffLL
#define PY_LLP64
#include <basetsd.h>
#include <io.h>
#include <stdio.h>
#else
#define SIZEOF_LONG 8
#define SIZEOF_WCHAR_T 4
#define SIZEOF_PID_T 4
#define SIZEOF_OFF_T 8
#define SIZEOF_FPOS_T 16
#define SIZEOF_PTHREAD_T 8
#define HAVE_SSIZE_T 1
#define HAVE_UNISTD_H 1
#define HAVE_PTHREAD_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_SELECT_H 1
#define HAVE_FORK 1
#define HAVE_CLOCK_GETTIME 1
#define _GNU_SOURCE 1
#endif

#endif
