"""Names in printed C: as near to Python's as C, C++, their library and the file itself allow.

A name that is taken gets an underscore. Names of functions are shared with the C library and with
what a printed file has of its own; parameters meet only words, types and macros.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

_WORDS = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "typeof union unsigned void volatile while alignas alignof bool constexpr false nullptr "
    "static_assert thread_local true and asm bitand bitor catch class compl concept const_cast "
    "consteval constinit decltype delete dynamic_cast explicit export friend mutable namespace new "
    "noexcept not operator or private protected public reinterpret_cast requires static_cast "
    "template this throw try typeid typename using virtual wchar_t xor "
    # types and macros that headers bring
    "NULL EOF NAN INFINITY HUGE_VAL I complex imaginary errno stdin stdout stderr assert offsetof "
    "size_t ptrdiff_t max_align_t linux unix near far".split()
)
"""Words of C and C++, and what a header may have made of a name."""
_NUMBERED = re.compile(r"u?int(_least|_fast)?(8|16|32|64|ptr|max)_t|U?INT\w+|SIZE_MAX")
"""Types of integers and their limits."""
_PARAMETERS = frozenset("rows status weights totals".split())
"""Parameters that printed functions have."""
_OURS = re.compile(r"(rg|RG_|v_|vi_|vm_).*|v[a-z]|[MRULX]|XS|PUT|GUARD\w*|TAKE\w*|SIMD|PACK|CALLED")
"""Functions, types and macros of the file itself."""
_LIBRARY = frozenset(
    "main abort abs acos acosh asctime asin asinh atan atan2 atanh atexit atof atoi atol bsearch "
    "calloc cbrt ceil clock copysign cos cosh ctime difftime div erf erfc exit exp exp2 expm1 fabs "
    "fclose fdim feof fflush fgetc fgets floor fma fmax fmin fmod fopen fprintf fputc fputs fread "
    "free frexp fscanf fseek ftell fwrite gamma getc getchar getenv gets gmtime hypot ilogb index "
    "isalnum isalpha isdigit isfinite isinf islower isnan isspace isupper j0 j1 jn labs ldexp "
    "ldiv lgamma llrint llround localtime log log10 log1p log2 logb longjmp lrint lround malloc "
    "memchr memcmp memcpy memmove memset mktime modf nan nearbyint nextafter perror pow printf "
    "putc putchar puts qsort raise rand random read realloc remainder remove remquo rename rewind "
    "rindex rint round scalbn scanf select setbuf setjmp signal signbit significand sin sincos "
    "sinh sprintf sqrt srand strcat strchr strcmp strcpy strlen strncmp strncpy strstr strtod "
    "strtol system tan tanh tgamma time tmpfile tolower toupper trunc ungetc write y0 y1 yn".split()
)
"""Functions of the C library, which a program may call beside a printed one."""


def c_name(name: str) -> str:
    """A name of a parameter, as near as possible to one of Python's."""
    plain = re.sub(r"\W+", "_", _ascii(name), flags=re.ASCII).strip("_") or "program"
    if plain[0].isdigit():
        plain = f"n{plain}"
    is_taken = plain in _WORDS or plain in _PARAMETERS or _NUMBERED.fullmatch(plain)
    return f"{plain}_" if is_taken or re.fullmatch(r"value(_\d+)?|RG_.*", plain) else plain


def function_name(name: str) -> str:
    """A name of a function."""
    plain = c_name(name)
    is_taken = plain in _LIBRARY or _OURS.fullmatch(plain) or plain in ("program", "value")
    return f"{plain}_" if is_taken and name != "program" else plain


def free_name(name: str, taken: set[str], others: Callable[[str], list[str]]) -> str:
    """A name of a parameter that is free together with ``others`` that are made of it; they are
    taken from now on."""
    plain = c_name(name)
    while taken & {plain, *others(plain)}:
        plain += "_"
    taken |= {plain, *others(plain)}
    return plain


def comment(text: str) -> str:
    """A text as it may stand in a comment."""
    return " ".join(text.split()).replace("*/", "* /").replace("/*", "/ *")


def _ascii(name: str) -> str:
    """A name in the letters of C: without accents, Greek letters by their names."""
    return "".join(each if each.isascii() else _letters(each) for each in name)


def _letters(letter: str) -> str:
    plain = "".join(each for each in unicodedata.normalize("NFKD", letter) if each.isascii())
    if plain:
        return plain
    words = unicodedata.name(letter, "").split()
    if words[:1] != ["GREEK"]:
        return "_"
    said = words[words.index("LETTER") + 1] if "LETTER" in words[:-1] else ""
    return said.lower() if "SMALL" in words else said.capitalize()
