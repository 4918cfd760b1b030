/* Memory, threads, time and the processor, as each system has them. */
#if !defined(_WIN32) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* anonymous pages, on a C library that is asked for C17 alone */
#endif
#include "platform.h"

#include <stdlib.h>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <malloc.h>
#include <process.h>
#include <windows.h>
#else
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#endif

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { LINE = 64 };

/* What a thread is given, kept until it has begun. */
typedef struct {
    void (*body)(void *);
    void *with;
} Task;

static Task *new_task(void (*body)(void *), void *with) {
    Task *task = malloc(sizeof(Task));
    if (task != NULL) *task = (Task){body, with};
    return task;
}

static void run_task(Task *given) {
    Task task = *given;
    free(given);
    task.body(task.with);
}

#if defined(_WIN32)

void *rg_aligned_take(size_t bytes) { return _aligned_malloc(bytes ? bytes : LINE, LINE); }
void rg_aligned_free(void *memory) { _aligned_free(memory); }

void *rg_pages_take(size_t bytes) {
    return VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}
void rg_pages_free(void *memory, size_t bytes) {
    (void)bytes;
    VirtualFree(memory, 0, MEM_RELEASE);
}

static unsigned __stdcall thread_of(void *task) {
    run_task(task);
    return 0;
}

int rg_thread_begin(RgThread *thread, void (*body)(void *), void *with) {
    Task *task = new_task(body, with);
    *thread = task ? _beginthreadex(NULL, 0, thread_of, task, 0, NULL) : 0;
    if (*thread) return 0;
    free(task);
    return -1;
}
void rg_thread_wait(RgThread thread) {
    WaitForSingleObject((HANDLE)thread, INFINITE);
    CloseHandle((HANDLE)thread);
}

int64_t rg_nanoseconds(void) {
    LARGE_INTEGER ticks, a_second;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&a_second);
    int64_t whole = ticks.QuadPart / a_second.QuadPart, rest = ticks.QuadPart % a_second.QuadPart;
    return whole * 1000000000 + rest * 1000000000 / a_second.QuadPart;
}

#else

void *rg_aligned_take(size_t bytes) {
    void *memory = NULL;
    return posix_memalign(&memory, LINE, bytes ? bytes : LINE) ? NULL : memory;
}
void rg_aligned_free(void *memory) { free(memory); }

void *rg_pages_take(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}
void rg_pages_free(void *memory, size_t bytes) { munmap(memory, bytes); }

static void *thread_of(void *task) {
    run_task(task);
    return NULL;
}

_Static_assert(sizeof(pthread_t) <= sizeof(RgThread), "a thread's name is one word");

int rg_thread_begin(RgThread *thread, void (*body)(void *), void *with) {
    pthread_t begun;
    Task *task = new_task(body, with);
    if (task == NULL || pthread_create(&begun, NULL, thread_of, task) != 0) {
        free(task);
        return -1;
    }
    *thread = (RgThread)begun;
    return 0;
}
void rg_thread_wait(RgThread thread) { pthread_join((pthread_t)thread, NULL); }

int64_t rg_nanoseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif

#if defined(__x86_64__)

/* The registers that the system saves when it switches between threads. */
static uint32_t saved_registers(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static int has(uint32_t word, uint32_t bits) { return (word & bits) == bits; }

/* From the manuals of the processors: which bits stand for what the levels ask for. */
static int find_level(void) {
    enum { FMA = 1 << 12, MOVBE = 1 << 22, OSXSAVE = 1 << 27, F16C = 1 << 29 }; /* 1: ecx */
    enum { BMI1 = 1 << 3, AVX2 = 1 << 5, BMI2 = 1 << 8 };                       /* 7: ebx */
    enum { F = 1 << 16, DQ = 1 << 17, CD = 1 << 28, BW = 1 << 30 };             /* the same */
    enum { LZCNT = 1 << 5 }; /* 0x80000001: ecx */
    enum { YMM = 6, ZMM = 0xe6 };
    const uint32_t vl = 1u << 31;
    uint32_t a, b, c, d, more_b, more_c;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !has(c, FMA | MOVBE | OSXSAVE | F16C)) return 1;
    if (!__get_cpuid_count(7, 0, &a, &more_b, &more_c, &d)) return 1;
    if (!has(more_b, BMI1 | AVX2 | BMI2) || !has(saved_registers(), YMM)) return 1;
    if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !has(c, LZCNT)) return 1;
    int v4 = has(more_b, F | DQ | CD | BW | vl) && has(saved_registers(), ZMM);
    return v4 ? 4 : 3;
}

int rg_x86_level(void) {
    static int level = 0; /* every thread finds the same */
    if (level == 0) level = find_level();
    return level;
}

#else

int rg_x86_level(void) { return 0; }

#endif
