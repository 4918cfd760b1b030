"""Hostile submissions: each tries to get out, to get marks, or to stop the others' grading.

An attack that succeeds says so: ``escaped`` raises a word the tests look for. ``$name`` stands for
something of the teacher's: a file, a process, a port. The class of every file answers all
questions wrongly, so that honest grading gives it nothing.
"""

# ruff: noqa: E501  attacks are written as they would be handed in

from __future__ import annotations

PRELUDE = """
import os, sys
def escaped(what=""):
    raise BaseException("ESCAPED " + str(what)[:200])
def must_fail(action, *given, errors=(OSError, ValueError, RuntimeError, ImportError)):
    try:
        got = action(*given)
    except errors:
        return
    escaped(got)
class Value:
    def __init__(self, data):
        self.data, self.grad = data, 0.0
    def __add__(self, other):
        return Value(self.data + 1.25)
    __sub__ = __mul__ = __truediv__ = __pow__ = __radd__ = __rmul__ = __add__
    def backward(self):
        self.grad = 7.5
"""

CALLS = '''
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
import platform
X86 = platform.machine() == "x86_64"
def call(x86, arm, *given):
    """A system call that must fail with an error."""
    number = x86 if X86 else arm
    if number < 0:
        return
    ctypes.set_errno(0)
    got = libc.syscall(ctypes.c_long(number), *[
        ctypes.c_long(it) if isinstance(it, int) else it for it in given])
    if got != -1:
        escaped((x86, got))
'''

READING = {
    "reads a file": "must_fail(lambda: open('$secret').read())",
    "reads a file by descriptor": "must_fail(lambda: os.read(os.open('$secret', 0), 99))",
    "reads a file through ctypes": CALLS
    + """
fd = libc.open(b"$secret", 0)
if fd >= 0: escaped(os.read(fd, 99))
""",
    "reads a file through fopen": CALLS
    + """
libc.fopen.restype = ctypes.c_void_p
if libc.fopen(b"$secret", b"r"): escaped()
""",
    "reads through openat2": CALLS
    + """
import struct
how = ctypes.create_string_buffer(struct.pack("=QQQ", 0, 0, 0), 24)
call(437, 437, -100, ctypes.c_char_p(b"$secret"), how, 24)
""",
    "opens a file by handle": CALLS
    + """
call(303, 264, -100, ctypes.c_char_p(b"$secret"), ctypes.create_string_buffer(200),
     ctypes.create_string_buffer(8), 0)
call(304, 265, -100, ctypes.create_string_buffer(200), 0)
""",
    "reads through a path only opened": """
fd = os.open("/", getattr(os, "O_PATH", 0) | os.O_DIRECTORY)
must_fail(lambda: os.open("$secret".lstrip("/"), os.O_RDONLY, dir_fd=fd))
""",
    "climbs out with dots": "must_fail(lambda: open('/usr/lib/../..$secret').read())",
    "lists the teacher's folder": "must_fail(os.listdir, '$folder')",
    "lists the root": "must_fail(os.listdir, '/home'); must_fail(os.listdir, '/tmp')",
    "reads the teacher's home": """
import glob
found = [p for p in glob.glob("/root/.*") + glob.glob("/home/*/.*") if os.access(p, os.R_OK)]
for path in found:
    must_fail(lambda: open(path).read())
""",
    "reads passwords": "must_fail(lambda: open('/etc/passwd').read())",
    "imports the teacher's module": """
sys.path.insert(0, "$folder")
must_fail(__import__, "answers_of_the_teacher")
""",
    "reads with sqlite": """
import sqlite3
must_fail(lambda: sqlite3.connect("$secret").execute("select * from sqlite_master"),
          errors=(sqlite3.Error, OSError))
""",
    "puts a file into its message": """
try:
    text = open("$secret").read()
except OSError:
    text = "nothing"
raise ValueError(text)
""",
    "makes a syntax error of a file": """
import runpy
try:
    runpy.run_path("$secret")
except SyntaxError as error:
    escaped(error.text)
except OSError:
    pass
""",
    "reads environments": """
if any("TOKEN" in name for name in os.environ): escaped(dict(os.environ))
must_fail(lambda: open("/proc/self/environ").read())
must_fail(lambda: open("/proc/$pid/environ").read())
""",
    "reads its environment from memory": CALLS
    + """
start = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ")
n = 0
while start and start[n]:
    if b"TOKEN" in start[n]: escaped(start[n])
    n += 1
""",
    "looks around in /proc": """
for place in ("/proc/$pid/mem", "/proc/$pid/maps", "/proc/$pid/cmdline", "/proc/self/mem",
              "/proc/self/maps", "/proc/net/tcp", "/proc/kallsyms", "/proc/sys/kernel/core_pattern"):
    must_fail(lambda: open(place, "rb").read(1))
for place in ("/proc", "/proc/$pid/fd", "/proc/self/fd", "/proc/$pid/root", "/proc/self/root/home"):
    must_fail(os.listdir, place)
""",
    "reads devices": """
for place in ("/dev/zero", "/dev/mem", "/dev/sda", "/dev/vda", "/dev/tty", "/dev/ptmx", "/dev/null"):
    must_fail(lambda: open(place, "rb").read(1))
""",
    "asks where links lead": """
must_fail(os.readlink, "$link")
for place in ("/proc/$pid/exe", "/proc/$pid/cwd", "/proc/$pid/fd/1", "/proc/self/exe"):
    must_fail(os.readlink, place)
""",
    "finds other people's packages": """
folder = os.path.dirname(os.__file__)
for name in ("site-packages", "dist-packages"):
    for place, _, files in os.walk(os.path.join(folder, name)):
        for file in files[:3]:
            must_fail(open, os.path.join(place, file))
""",
    "reads with NumPy": """
import numpy as np
must_fail(np.fromfile, "$secret")
must_fail(np.memmap, "$secret")
must_fail(np.loadtxt, "$secret")
must_fail(np.save, "$folder/new.npy", 1)
""",
    "goes through inherited descriptors": """
import stat
for fd in range(3, 1024):
    try:
        mode = os.fstat(fd).st_mode
    except OSError:
        continue
    if not stat.S_ISFIFO(mode): escaped((fd, oct(mode)))
""",
}

CHANGING = {
    "writes a file": "must_fail(open, '$secret', 'w'); must_fail(open, '$secret', 'a')",
    "makes files": """
for place in ("$folder/new", "/tmp/new", "/dev/shm/new", "/var/tmp/new", "/new", "new"):
    must_fail(open, place, "w")
    must_fail(os.mkdir, place + "d")
    must_fail(os.mkfifo, place + "p")
""",
    "changes a mode": "must_fail(os.chmod, '$secret', 0o777); must_fail(os.chown, '$secret', 1, 1)",
    "changes a mode through calls": CALLS
    + """
call(90, -1, ctypes.c_char_p(b"$secret"), 0o777)
call(268, 53, -100, ctypes.c_char_p(b"$secret"), 0o777)
call(452, 452, -100, ctypes.c_char_p(b"$secret"), 0o777, 0)
""",
    "changes times and attributes": """
must_fail(os.utime, "$secret", (1, 1))
must_fail(os.setxattr, "$secret", "user.mine", b"1")
must_fail(os.truncate, "$secret", 0)
""",
    "removes and renames": """
must_fail(os.remove, "$secret")
must_fail(os.rename, "$secret", "$secret.old")
must_fail(os.rmdir, "$folder")
import shutil
shutil.rmtree("$folder", ignore_errors=True)
""",
    "makes a symlink": "must_fail(os.symlink, '$secret', '$folder/link')",
    "makes a hard link": "must_fail(os.link, '$secret', '$folder/hard'); must_fail(os.link, '$secret', 'h')",
    "fills the disk": """
written = 0
for place in ("/", "/tmp/", "/var/tmp/", "/dev/shm/", "$folder/", "./", "/boxed/"):
    for n in range(100):
        try:
            with open(f"{place}big{n}", "wb") as file:
                written += file.write(b"x" * 1_000_000)
        except OSError:
            break
if written: escaped(written)
""",
    "fills memory files": CALLS
    + """
call(319, 279, ctypes.c_char_p(b"mine"), 0)
call(29, 194, 0, 1 << 20, 0o1777)
call(68, 186, 0, 0o1777)
call(240, 180, ctypes.c_char_p(b"/queue"), 0o102, 0o777, 0)
""",
    "writes into Python itself": """
import encodings
must_fail(open, encodings.__file__, "a")
must_fail(open, os.__file__, "a")
must_fail(open, os.path.join(os.path.dirname(os.__file__), "antigravity2.py"), "w")
""",
    "locks and leases": """
import fcntl
for fd in range(8):
    for action in (lambda: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB),
                   lambda: fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB),
                   lambda: fcntl.fcntl(fd, 1024, 1), lambda: fcntl.fcntl(fd, 1033, 1)):
        must_fail(action)
""",
    "moves bytes between pipes": CALLS
    + """
r, w = os.pipe()
call(275, 76, r, 0, w, 0, 10, 0)
call(276, 77, r, w, 10, 0)
call(278, 75, w, 0, 0, 0)
call(40, 71, w, r, 0, 10)
call(326, 285, r, 0, w, 0, 10, 0)
""",
    "writes a database": """
import sqlite3
def make():
    base = sqlite3.connect("$folder/new.db")
    base.execute("create table t (x)")
must_fail(make, errors=(sqlite3.Error, OSError))
""",
}

PROCESSES = {
    "forks": "must_fail(os.fork)",
    "forks without end": """
def bomb():
    while True:
        os.fork()
must_fail(bomb)
""",
    "starts a program": """
import subprocess
must_fail(subprocess.run, ["/bin/sh", "-c", "echo hello"])
if os.system("sleep 31557600 &") == 0: escaped()
must_fail(os.posix_spawn, "/bin/sleep", ["sleep", "31557600"], {})
""",
    "becomes a program": """
must_fail(os.execv, "/bin/sh", ["sh", "-c", "sleep 31557600"])
must_fail(os.execv, sys.executable or "/usr/bin/python3", ["python", "-c", "import retrograde"])
""",
    "leaves a daemon": """
def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv("/bin/sleep", ["sleep", "31557600"])
        os._exit(0)
must_fail(daemon)
must_fail(os.setsid)
""",
    "clones through calls": CALLS
    + """
call(56, 220, 17, 0, 0, 0, 0)
call(57, -1)
call(58, -1)
call(435, 435, ctypes.create_string_buffer(b"\\0" * 88), 88)
""",
    "uses multiprocessing": """
import multiprocessing
must_fail(lambda: multiprocessing.get_context("fork").Process(target=print).start())
must_fail(lambda: multiprocessing.get_context("spawn").Process(target=print).start())
""",
    "starts threads": """
import threading
must_fail(lambda: threading.Thread(target=print).start())
import _thread
must_fail(lambda: _thread.start_new_thread(print, ()))
""",
    "leaves zombies": """
def zombies():
    for _ in range(100):
        if os.fork() == 0: os._exit(0)
must_fail(zombies)
""",
    "runs code at its end": """
import atexit, threading
atexit.register(lambda: os.write(2, b"ESCAPED"))
sys.exitfunc = lambda: os.write(2, b"ESCAPED")
""",
}

SIGNALS = {
    "signals the teacher": """
import signal
for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGKILL, 0):
    must_fail(os.kill, $pid, number)
    must_fail(os.killpg, os.getpgid(0) if False else $pid, number)
    must_fail(os.kill, os.getppid() or $pid, number)
""",
    "signals everyone": """
import signal
must_fail(os.kill, -1, signal.SIGUSR1)
must_fail(os.kill, 0, signal.SIGUSR1)
must_fail(os.kill, 1, signal.SIGUSR1)
""",
    "signals through calls": CALLS
    + """
call(129, 138, $pid, 10, ctypes.create_string_buffer(128))
call(200, 130, $pid, 10)
call(234, 131, $pid, $pid, 10)
call(297, 240, $pid, $pid, 10, ctypes.create_string_buffer(128))
call(434, 434, $pid, 0)
call(424, 424, 3, 10, 0, 0)
""",
    "signals through descriptors": """
import fcntl
for fd in range(0, 8):
    for command, value in ((8, $pid), (10, 10), (15, 0), (1024, 1), (1031, 1 << 20)):
        try:
            fcntl.fcntl(fd, command, value)
        except OSError:
            continue
        escaped((fd, command))
""",
    "traces": CALLS
    + """
call(101, 117, 16, $pid, 0, 0)
call(101, 117, 0x4206, $pid, 0, 0)
call(101, 117, 0, 0, 0, 0)
call(310, 270, $pid, 0, 0, 0, 0, 0)
call(311, 271, $pid, 0, 0, 0, 0, 0)
call(312, 272, $pid, $pid, 0, 0, 0)
""",
    "hides another process in high bits": CALLS
    + """
for high in (1 << 32, 0xffffffff << 32):
    call(62, 129, high | $pid, 10)
    call(302, 261, high | $pid, 7, ctypes.create_string_buffer(16), 0)
call(16, 29, 0, 0x15412, ctypes.create_string_buffer(b"x"))
""",
    "types into the terminal": """
import fcntl
for fd in range(8):
    for command in (0x5412, 0x540E, 0x5411, 0x541E, 0x8901, 0x8902, 0x5452):
        must_fail(fcntl.ioctl, fd, command, b"x" * 8)
""",
    "changes the limits of others": CALLS
    + """
import resource
must_fail(resource.prlimit, $pid, resource.RLIMIT_CPU, (1, 1))
must_fail(resource.setrlimit, resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
must_fail(resource.setrlimit, resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
must_fail(os.setpriority, os.PRIO_PROCESS, $pid, 19)
must_fail(os.sched_setaffinity, $pid, {0})
""",
    "outlives its parent": CALLS
    + """
call(157, 167, 1, 0, 0, 0, 0)
call(157, 167, 4, 1, 0, 0, 0)
call(157, 167, 36, 1, 0, 0, 0)
""",
}

NETWORK = {
    "connects": """
import socket
must_fail(lambda: socket.create_connection(("127.0.0.1", $port), 1))
must_fail(lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM))
must_fail(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", $port)))
""",
    "listens": """
import socket
must_fail(lambda: socket.create_server(("127.0.0.1", 0)))
""",
    "asks for names": """
import urllib.request
must_fail(lambda: urllib.request.urlopen("http://localhost:$port/", timeout=1))
""",
    "uses sockets of the system": """
import socket
must_fail(lambda: socket.socket(socket.AF_UNIX).connect("$socket"))
must_fail(lambda: socket.socket(socket.AF_UNIX).connect("\\0$abstract"))
must_fail(socket.socketpair)
must_fail(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
must_fail(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
""",
    "uses sockets through calls": CALLS
    + """
call(41, 198, 2, 1, 0)
call(41, 198, 1, 1, 0)
call(41, 198, 40, 1, 0)
call(41, 198, 38, 5, 0)
call(53, 199, 1, 1, 0, ctypes.create_string_buffer(8))
""",
}

KERNEL = {
    "takes the boundary down": CALLS
    + """
call(272, 97, 0x10000000)
call(272, 97, 0x20000)
call(308, 268, 3, 0)
call(165, 40, ctypes.c_char_p(b"none"), ctypes.c_char_p(b"/"), 0, 0, 0)
call(166, 39, ctypes.c_char_p(b"/usr"), 0)
call(161, 51, ctypes.c_char_p(b"/"))
call(155, 41, ctypes.c_char_p(b"/"), ctypes.c_char_p(b"/"))
call(428, 428, -100, ctypes.c_char_p(b"/"), 1)
call(317, 277, 1, 0, 0)
call(126, 91, ctypes.create_string_buffer(8), ctypes.create_string_buffer(24))
call(105, 146, 0)
call(117, 147, 0, 0, 0)
""",
    "uses dark corners of the kernel": CALLS
    + """
empty = ctypes.create_string_buffer(4096)
call(321, 280, 0, empty, 128)
call(298, 241, empty, 0, -1, -1, 0)
call(323, 282, 0)
call(425, 425, 8, empty)
call(248, 217, ctypes.c_char_p(b"user"), ctypes.c_char_p(b"a"), ctypes.c_char_p(b"b"), 1, -3)
call(250, 219, 0, -3, 0)
call(135, 92, 0x40000)
call(175, 105, empty, 0, ctypes.c_char_p(b""))
call(169, 142, -18751827, 672274793, 0)
call(170, 161, ctypes.c_char_p(b"x"), 1)
call(227, 112, 0, empty)
call(103, 116, 2, empty, 100)
call(167, 224, ctypes.c_char_p(b"/x"), 0)
call(254, 27, 0, ctypes.c_char_p(b"/"), 0xfff)
call(300, 262, 0, 0)
call(149, 228, empty, 4096)
call(447, 447, 0)
""",
    "uses the other table of calls": CALLS
    + """
if X86:
    call(0x40000000 + 2, -1, ctypes.c_char_p(b"$secret"), 0)
    call(0x40000000 + 57, -1)
    call(0x40000000 + 41, -1, 2, 1, 0)
""",
    "calls the kernel in its own machine code": CALLS
    + """
if X86:  # mov rax, 57 (fork); syscall; ret
    import mmap
    page = mmap.mmap(-1, 4096, prot=7)
    page.write(b"\\x48\\xc7\\xc0\\x39\\x00\\x00\\x00\\x0f\\x05\\xc3")
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    got = ctypes.CFUNCTYPE(ctypes.c_long)(address)()
    if got >= 0: escaped(got)
""",
    "calls the kernel in 32 bits": CALLS
    + """
if X86:  # mov eax, 20 (getpid of the old table); int 0x80; ret
    import mmap
    page = mmap.mmap(-1, 4096, prot=7)
    page.write(b"\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3")
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    escaped(ctypes.CFUNCTYPE(ctypes.c_int)(address)())
""",
}

HOGS = {
    "takes memory": """
kept = []
while True:
    kept.append(bytearray(100_000_000))
""",
    "takes memory in one go": "x = bytearray(1 << 40)",
    "loops": "while True: pass",
    "loops in C": "x = 10 ** 10 ** 9",
    "loops in a regular expression": "import re; re.match(r'(a*)*(a*)*b', 'a' * 5000)",
    "loops and catches everything": """
import signal
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
try: signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
except ValueError: pass
while True:
    try:
        while True: pass
    except BaseException: pass
""",
    "sleeps": "import time; time.sleep(1e6)",
    "stops itself": "import signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "waits for a lock": "import threading; it = threading.Lock(); it.acquire(); it.acquire()",
    "recurses without end": "sys.setrecursionlimit(10**9)\ndef f(): return f()\nf()",
    "prints without end": "while True: print('x' * 10_000)",
    "prints slowly": "import time\nwhile True:\n    os.write(1, b'.'); time.sleep(0.01)",
    "prints control characters": "print('\\x1b]0;mine\\x07\\x1b[2J'); raise ValueError('\\x1b[2J\\r\\b')",
    "opens everything": """
kept = []
try:
    while True: kept.append(os.pipe())
except OSError:
    pass
if len(kept) > 500: escaped(len(kept))
""",
    "hangs when asked": """
def hang(self, *given):
    while True: pass
Value.__add__ = Value.__mul__ = hang
""",
    "hangs when looked at": """
class Value:
    def __init__(self, data): pass
    def __getattr__(self, name):
        while True: pass
""",
    "hangs as a number": """
class Slow(float):
    def __float__(self):
        while True: pass
Value.__add__ = lambda self, other: Value(Slow(1))
""",
}

STOPPERS = {
    "a lone surrogate in a message": "raise ValueError('\\ud800 \\udcff')",
    "a lone surrogate in a name": "Value.__name__ = Value.__qualname__ = '\\ud800'",
    "a long name": "Value.__name__ = 'V' * 3_000_000",
    "a long message": "raise ValueError('x' * 50_000_000)",
    "a message that hangs": """
class Mute(BaseException):
    def __str__(self):
        while True: pass
raise Mute
""",
    "a message that is no text": """
class Odd(BaseException):
    def __str__(self): return 3
raise Odd
""",
    "an error with odd lines": """
error = SyntaxError("odd")
error.filename, error.lineno, error.msg = "student.py", -10**30, "\\x1b[0m"
raise error
""",
    "an error with lines of text": """
error = SyntaxError("odd")
error.filename, error.lineno, error.msg = "student.py", "=1+1", {}
raise error
""",
    "200,000 brackets": "x = " + "[" * 200_000,
    "200,000 brackets, closed": "x = " + "(" * 100_000 + ")" * 100_000,
    "many minus signs": "x = " + "-" * 200_000 + "1",
    "a long chain": "x = a" + ".a" * 200_000,
    "a zero byte": "x = 1\n\0",
    "leaves": "sys.exit(0)",
    "leaves at once": "os._exit(0)",
    "leaves with success when asked": "Value.__add__ = lambda self, other: os._exit(0)",
    "aborts": "os.abort()",
    "crashes": "import ctypes; ctypes.string_at(0)",
    "kills itself": "os.kill(os.getpid(), 9)",
    "closes everything": "os.closerange(0, 100)",
    "talks past the channels": """
for fd in range(3, 32):
    r, w = os.pipe()
    try: os.dup2(r, fd)
    except OSError: pass
""",
    "lets no channel wait": """
for fd in range(32):
    try: os.set_blocking(fd, False)
    except OSError: pass
""",
    "a name that is a formula": """
class Meta(type):
    @property
    def __name__(cls): return "=HYPERLINK(1)\\x00\\x1b"
class Value(metaclass=Meta):
    def __init__(self, data): raise ValueError("@SUM(1)\\u2028")
""",
    "reads standard input": "x = input()",
    "replaces builtins": """
import builtins
for name in ("isinstance", "len", "type", "getattr", "float", "list", "dict", "str", "hasattr"):
    setattr(builtins, name, None)
""",
    "replaces modules": """
import json, signal
json.dumps = json.loads = os.write = os.read = None
sys.modules.clear()
""",
    "never ends its class": """
class Meta(type):
    def __getattribute__(self, name): raise SystemExit(name)
class Value(metaclass=Meta): pass
""",
    "raises at every turn": """
class Value:
    def __init__(self, data): self.data, self.grad = data, 0
    def __getattribute__(self, name): raise KeyboardInterrupt
""",
    "generates without end": """
import itertools
Value.__add__ = lambda self, other: itertools.count()
""",
}

FORGING = {
    "imports the engine": """
def find():
    from retrograde import Value
    return Value
must_fail(find)
""",
    "imports the engine from where it lies": """
for place in ("$package", os.path.dirname("$package"), *("$path".split(":"))):
    sys.path.insert(0, place)
    must_fail(__import__, "retrograde")
    must_fail(lambda: open(os.path.join(place, "retrograde", "learn", "faults.py")).read())
    must_fail(lambda: open(os.path.join(place, "learn", "faults.py")).read())
""",
    "imports by path": """
import importlib.util
spec = importlib.util.spec_from_file_location("faults", "$package/learn/faults.py")
module = importlib.util.module_from_spec(spec)
must_fail(spec.loader.exec_module, module)
""",
    "looks for answers in frames": """
frame = sys._getframe()
while frame:
    for name, it in list(frame.f_locals.items()) + list(frame.f_globals.items()):
        if name in ("right", "expected", "answers", "_right", "engine", "FaultyValue"): escaped(name)
    frame = frame.f_back
""",
    "looks for answers in memory": """
import gc
for it in gc.get_objects():
    if getattr(type(it), "__name__", "") in ("Answer", "FaultyValue", "Probe", "Capability"):
        escaped(it)
if any(name.startswith("retrograde") for name in sys.modules): escaped()
""",
    "answers in place of the process": """
import json, itertools
def forge(reply):
    data = (json.dumps(reply) + "\\n").encode()
    for fd in range(3, 20):
        try: os.write(fd, data)
        except OSError: pass
forge({"loaded": True})
forge({"engine": {"class": "Value", "data": "data", "gradient": "grad", "backward": "backward"},
       "ops": ["add", "mul", "sub", "div", "pow", "neg", "exp", "log", "tanh", "relu"], "lines": {}})
for _ in range(200):
    forge({"numbers": []})
import time; time.sleep(0.5)
os._exit(0)
""",
    "takes over the conversation": """
import json
fds = range(3, 32)
def reply(it):
    for fd in fds:
        try: os.write(fd, (json.dumps(it) + "\\n").encode())
        except OSError: pass
def heard():
    for fd in fds:
        try: return os.read(fd, 65536)
        except OSError: pass
reply({"loaded": True})
while more := heard():
    for question in map(json.loads, filter(None, more.split(b"\\n"))):
        if question["ask"] == "engine":
            reply({"engine": dict.fromkeys(("class", "data", "gradient", "backward"), "v"),
                   "ops": ["add", "mul", "sub", "div", "pow", "neg", "exp", "log", "tanh", "relu"], "lines": {}})
        else:
            reply({"numbers": [1.0] * (len(question["leaves"]) + 1 + (question["session"] == "once"))})
os._exit(0)
""",
    "describes itself in nested lists": """
def forge(text):
    for fd in range(3, 20):
        try: os.write(fd, text.encode() + b"\\n")
        except OSError: pass
forge('{"loaded": true}')
forge('{"engine": {"class": %s, "data": "x", "gradient": "(a*)*[", "backward": %s}, "ops": ["add"], '
      '"lines": {"add": 999999}}' % ("[" * 960 + "]" * 960, "9" * 4000))
for _ in range(60): forge('{"numbers": [1e999, -1e999, NaN, 3]}')
import time; time.sleep(0.3)
os._exit(0)
""",
    "gives empty answers": "import inside.asking as a; a.run = lambda *them, **how: []",
    "gives no answers": "import inside.asking as a; a.run = lambda *them, **how: None",
    "gives too many answers": "import inside.asking as a; a.run = lambda *them, **how: [0.0] * 5000",
    "gives odd answers": """
import inside.asking as a
odd = iter([[True] * 4, ["1"] * 4, [None] * 4, [[1.0]] * 4, [{}] * 4, [10**400] * 4])
a.run = lambda *them, **how: next(odd, [float("nan")] * 4)
""",
    "gives nothing but NaN": "import inside.asking as a; a.run = lambda t, text, root, leaves, session: "
    "[float('nan')] * (len(leaves) + 2 - (session != 'once'))",
    "gives infinities": "import inside.asking as a; a.run = lambda t, text, root, leaves, session: "
    "[float('inf')] * (len(leaves) + 2 - (session != 'once'))",
    "says it has nothing to be asked": """
import inside.asking as a
a.Subject._engine = lambda self, question: {
    "engine": {"class": "V", "data": "d", "gradient": "g", "backward": "b"}, "ops": [], "lines": {}}
""",
    "describes itself wildly": """
import inside.asking as a
a.Subject._engine = lambda self, question: {
    "engine": {"class": "\\x1b[2J" * 1000, "data": {"a": [1]}, "gradient": ["\\ud800"], "backward": 10**50},
    "ops": ["add", "mul", "__class__", 3, None, ["add"]], "lines": {"add": -1, "mul": "x", "backward": 1e300}}
""",
    "is equal to everything": """
class Same(float):
    def __eq__(self, other): return True
    __ne__ = __lt__ = __gt__ = __le__ = __ge__ = lambda self, other: False
    def __hash__(self): return 0
    def __sub__(self, other): return Same(0)
    __rsub__ = __abs__ = __sub__
    def __repr__(self): return "1.0"
Value.__add__ = Value.__mul__ = lambda self, other: Value(Same(1))
""",
    "answers in nested lists": """
def forge():
    for fd in range(3, 20):
        try: os.write(fd, b"{\\"numbers\\": " + b"[" * 60_000 + b"\\n")
        except OSError: pass
forge()
""",
    "answers without an end of line": """
for fd in range(3, 20):
    try:
        while True: os.write(fd, b"1" * 65536)
    except OSError: pass
""",
    "answers with lines without end": """
for fd in range(3, 20):
    try:
        while True: os.write(fd, b"{}\\n" * 1000)
    except OSError: pass
""",
    "knows a table of answers": """
import hashlib, json
Value.__add__ = lambda self, other: Value(TABLE.get(self.data, 0))
TABLE = {n / 10: 2 * n / 10 for n in range(-30, 30)}
""",
}

SLOW = frozenset(HOGS) - {
    "takes memory", "takes memory in one go", "prints control characters",
    "opens everything",
} | {"a message that hangs", "answers without an end of line", "answers with lines without end"}  # fmt: skip

BANK: dict[str, str] = {
    **READING, **CHANGING, **PROCESSES, **SIGNALS, **NETWORK, **KERNEL, **HOGS, **STOPPERS, **FORGING,
}  # fmt: skip
"""Every attack by name."""


def submission(name: str, world: dict[str, object]) -> str:
    """The file of an attack, aimed at a world."""
    text = PRELUDE + BANK[name] + "\n"
    for word in sorted(world, key=len, reverse=True):
        text = text.replace(f"${word}", str(world[word]))
    return text
