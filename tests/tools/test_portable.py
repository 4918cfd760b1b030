"""The native core keeps to C17 and to what platform.h names: it is compiled for systems that are
not this one, where nobody would see at once that it does not.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NATIVE = ROOT / "native"
OURS = ("platform.h", "platform.c", "kernels/compiler.h")

SPELLED_DIFFERENTLY = {
    "attributes": r"__attribute__|__declspec|__forceinline",
    "builtins": r"__builtin_\w+",
    "pragmas": r"#\s*pragma|_Pragma",
    "threads and clocks": r"\bpthread_\w+|\bsysconf\b|\bclock_gettime\b|\bsched_\w+",
    "memory": r"\bmmap\b|\bmunmap\b|\bposix_memalign\b|\baligned_alloc\b|\bmadvise\b|\balloca\b",
    "headers": r"#include <(?:sys/\w+|unistd|pthread|threads|sched|time|windows|cpuid)\.h>",
    "types": r"\bssize_t\b|\bint\s+long\b|\blong\s+int\b|__int128",
    "statements in expressions": r"=\s*\(\{",
    "the processor": r"\bcpuid\b|\bxgetbv\b",
}

ALLOWED = {
    ("executor.c", "__builtin_ia32_sfence"),  # beside the streaming stores of x86-64
    ("summary.c", "__attribute__"),  # vectors, and one function for AVX2
    ("summary.c", "__builtin_convertvector"),
    ("kernels/machine.h", "__attribute__"),  # the jump itself, where the compiler has it
}

TAKEN_ON_WINDOWS = re.compile(
    r"^(?:static |inline |RG_\w+ )*[\w*]+[ *]+"
    r"(access|chmod|close|creat|dup|eof|isatty|lseek|open|read|setmode|sopen|tell|umask|unlink|write)"
    r"\(",
    re.MULTILINE,
)
MACROS_ON_WINDOWS = re.compile(
    r"\b(FIXED|IN|OUT|OPTIONAL|CONST|ERROR|CALLBACK|IGNORE|STRICT|interface)\b"
)


def sources() -> list[Path]:
    return [
        path
        for path in sorted(NATIVE.rglob("*.[ch]"))
        if path.relative_to(NATIVE).as_posix() not in OURS
    ]


def code_of(path: Path) -> str:
    """A file without comments and texts."""
    text = re.sub(r"/\*.*?\*/", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


@pytest.mark.parametrize("what", SPELLED_DIFFERENTLY)
def test_what_systems_spell_differently_stands_in_platform_h(what: str) -> None:
    pattern = re.compile(SPELLED_DIFFERENTLY[what])
    found = {
        (path.relative_to(NATIVE).as_posix(), match[0])
        for path in sources()
        for match in pattern.finditer(code_of(path))
    }
    assert not found - ALLOWED


def test_every_exception_is_needed() -> None:
    for name, spelling in ALLOWED:
        assert spelling in code_of(NATIVE / name), (name, spelling)


def test_no_name_is_one_that_windows_has_taken() -> None:
    for path in sources():
        text = code_of(path)
        taken = [match[1] for match in TAKEN_ON_WINDOWS.finditer(text)]
        assert not taken, (path.name, taken)
        if "Python.h" in text or path.parent == NATIVE:  # with it come the headers of the system
            assert not MACROS_ON_WINDOWS.findall(text), path.name


def test_aligned_memory_is_given_back_as_it_was_taken() -> None:
    """On Windows what ``rg_aligned_take`` gives must not go to ``free``."""
    for path in sources():
        text = code_of(path)
        assert ("rg_aligned_take(" in text) == ("rg_aligned_free(" in text), path.name


def test_long_holds_nothing_that_may_be_large() -> None:
    """It has 32 bits on Windows. Those that are there are small numbers, or a thread's name."""
    found = set()
    for path in sources():
        for match in re.finditer(r"(?<!long )\blong (?!long|double)\w+", code_of(path)):
            found.add(f"{path.name}: {match[0]}")
    assert found <= {
        "modes.c: long wanted", "arrays.c: long wanted", "exchange.c: long axes",
        "ufuncs.c: long code", "traced.c: long number", "traced.c: long slot",
        "lent.c: long here", "walk.h: long thread",
    }, sorted(found)  # fmt: skip


# ---- the tool -----------------------------------------------------------------------------------


@pytest.fixture
def matrix(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    monkeypatch.delitem(sys.modules, "compile_matrix", raising=False)
    spec = importlib.util.find_spec("compile_matrix")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_system_and_processor_is_a_target(matrix) -> None:
    found = {(target.system, target.processor) for target in matrix.TARGETS}
    wanted = {(s, p) for s in ("Windows", "Darwin", "Linux") for p in ("x86_64", "aarch64")}
    assert wanted <= found


def test_exported_names_are_read_from_headers(matrix, tmp_path: Path) -> None:
    (tmp_path / "some.h").write_text(
        "PyAPI_FUNC(PyObject *) PyList_New(Py_ssize_t);\nPyAPI_DATA(PyTypeObject) PyList_Type;\n"
        "#define PyArg_Parse             _PyArg_Parse_SizeT\nextern int _PyHidden(void);\n"
    )
    text = (tmp_path / "some.h").read_text()
    found = {one or other for one, other in matrix.EXPORTED.findall(text)}
    assert found == {"PyList_New", "PyList_Type", "_PyArg_Parse_SizeT"}


def test_the_table_of_the_documentation_names_every_target(matrix) -> None:
    page = (ROOT / "docs" / "platforms.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in page.splitlines() if line.count("|") == 7]
    named = {(row[1].strip(), row[2].strip()) for row in rows}
    systems = {"Windows": "Windows", "Darwin": "macOS"}
    processors = {"x86_64": "x86-64", "aarch64": "ARM64"}
    for target in matrix.TARGETS:
        if target.compiler != "zig":
            continue
        library = "musl" if target.name.endswith("musl") else "glibc"
        system = systems.get(target.system, f"Linux, {library}")
        assert (system, processors[target.processor]) in named, target.name


@pytest.mark.slow
def test_the_core_is_compiled_for_windows_and_macos(matrix) -> None:
    pytest.importorskip("ziglang", reason="ziglang is in the extra 'platforms'")
    chosen = {"x86_64-windows-gnu", "aarch64-macos"}
    for target in matrix.TARGETS:
        if target.name in chosen:
            assert matrix.compile_for(target).verdict == "compiled", target.name
