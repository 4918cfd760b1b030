"""Exceptions of explanations, and of scripts and expressions on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .wording import RetrogradeError, closest, describe, kind_of, with_place

if TYPE_CHECKING:
    from typing import TypeAlias

    from typing_extensions import Self

    Value: TypeAlias = Any  # of either core


class StoryError(RetrogradeError, ValueError):
    """A story cannot be told, or does not hold what was asked of it."""

    @classmethod
    def no_roots(cls) -> Self:
        return cls("story of nothing: give at least one root.")

    @classmethod
    def seeds(cls, roots: int, seeds: int) -> Self:
        return cls(f"story: {roots} roots but {seeds} seeds; give one seed for each root.")

    @classmethod
    def tensors(cls, roots: int) -> Self:
        return cls(
            f"story: {roots} roots over tensors; explain one of them, or their sum: "
            "rg.story(a + b)."
        )

    @classmethod
    def not_in(cls, got: object, root: str) -> Self:
        if not hasattr(got, "requires_grad"):
            return cls(f"a value of a story is a Value, a name or an id, got {kind_of(got)}.")
        return cls(
            with_place(
                f"{describe(got)} is not under {root}: no step of the story reads it, so its "
                "gradient there is 0. Give a value that the root was computed from.",
                got,
            )
        )

    @classmethod
    def no_id(cls, got: int, last: int) -> Self:
        return cls(f"the story has no value {got}: its values are 0 to {last}.")

    @classmethod
    def no_name(cls, got: str, names: list[str]) -> Self:
        known = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        cure = closest(got, names) or f"its names are {known}."
        return cls(f"the story has no value named '{got}'; {cure}")

    @classmethod
    def index(cls, got: object, shape: tuple[int, ...]) -> Self:
        if not shape:
            return cls(f"ledger: index={got!r} of a single number; leave the index out.")
        return cls(
            f"ledger: index={got!r} is no place in shape {shape}; give one whole number an axis, "
            f"index={tuple(n - 1 for n in shape)} is the last."
        )

    @classmethod
    def routes(cls, got: int, most: int) -> Self:
        return cls(f"ledger: strongest={got} routes were asked for; ask for 0 to {most}.")

    @classmethod
    def version(cls, found: object, expected: tuple[str, int]) -> Self:
        return cls(
            f"this is no story of version {expected[1]}: schema and version are {found}, not "
            f"{expected}. Write it again with this version of the package."
        )

    @classmethod
    def damaged(cls, why: str) -> Self:
        return cls(f"this story does not hold together: {why}. Write it again with to_json().")


class ScriptError(RetrogradeError, OSError):
    """A script cannot be run, or showed nothing to explain."""

    @classmethod
    def unreadable(cls, path: str, error: OSError) -> Self:
        return cls(f"cannot read the script {path}: {error.strerror}.")

    @classmethod
    def no_pass(cls, path: str) -> Self:
        return cls(
            f"{path} ran no backward pass on retrograde's values: nothing called v.backward() or "
            "rg.backward(). Call it, and import Value from retrograde; of a compiled function, "
            "compiled.story(...) explains a row."
        )

    @classmethod
    def no_torch_pass(cls, path: str) -> Self:
        return cls(
            f"{path} imports PyTorch, and ran no backward pass: nothing called loss.backward(). "
            "Call it in the part of the script that runs, or give the script the arguments that "
            "make it train, after --."
        )

    @classmethod
    def only_gradients(cls, path: str, count: int) -> Self:
        return cls(
            f"{path} ran no backward pass: it called torch.autograd.grad {count:,} times, and "
            "loss.backward() never. rg.torch.story(loss) and rg.torch.ledger(loss, tensor) explain "
            "such a loss from inside the script."
        )

    @classmethod
    def unknown_engine(cls, path: str, engine: str) -> Self:
        return cls(
            f"{path} ran no backward pass that retrograde can see: it imports {engine}, and only "
            "values of retrograde and PyTorch programs are watched. rg.compare checks a function "
            "against JAX; otherwise write the part in question with retrograde's Value."
        )

    @classmethod
    def no_engine(cls, path: str) -> Self:
        return cls(
            f"{path} differentiates nothing: it imports neither retrograde nor PyTorch. Import "
            "Value from retrograde and call v.backward(), or give a script that trains with "
            "PyTorch."
        )

    @classmethod
    def torch_instead(cls, path: str, command: str) -> Self:
        return cls(
            f"{path} is a PyTorch program: there is nothing to put in the place of its engine. "
            f"Write retrograde {command} {path}."
        )

    @classmethod
    def no_step(cls, path: str, step: int, passes: int) -> Self:
        return cls(f"{path} ran {passes} backward passes; there is no pass {step} to explain.")

    @classmethod
    def other_engine(cls, path: str, engine: str, command: str) -> Self:
        return cls(
            f"{path} ran no backward pass on retrograde's values: it differentiates with {engine}. "
            f"Run it on ours: {command}."
        )

    @classmethod
    def other_backward(cls, path: str, engine: str, method: str, option: str) -> Self:
        return cls(
            f"{path} ran no backward pass on retrograde's values: it differentiates with its own "
            f"class {engine}, whose backward pass is {method}(). Rename that method to backward, "
            f"then run it on ours: retrograde run {path} --replace {engine} {option}."
        )

    @classmethod
    def stayed_own(cls, path: str, name: str, why: str) -> Self:
        return cls(
            f"{path} ran no backward pass on retrograde's values: its {name} stayed its own, "
            f"because {why}. Change that, or write the program with retrograde's Value."
        )

    @classmethod
    def no_pass_at(cls, path: str, line: int, lines: list[int]) -> Self:
        seen = ", ".join(map(str, lines[:8])) + (", …" if len(lines) > 8 else "")
        return cls(
            f"no backward pass began at line {line} of {path}; "
            + (f"they began at line {seen}." if lines else "the script ran none.")
        )


class ReplaceError(RetrogradeError, ValueError):
    """A class that is to be replaced in a script is not there, or not once."""

    @classmethod
    def of(
        cls,
        name: str,
        path: str,
        nested: list[int],
        classes: list[str],
        module: str,
    ) -> Self:
        if nested:
            return cls(
                f"class {name} of {path} stands inside a function or a class, at line "
                f"{nested[0]}; only a class at the top level can be replaced. Move it there."
            )
        if module.partition(".")[0] == "micrograd":
            cure = f"it imports {name} from {module}: write --shim micrograd."
        elif module:
            cure = f"it imports {name} from {module}: write --replace {module}.{name}."
        else:
            cure = closest(name, classes) or (
                f"its classes are {', '.join(classes[:8])}; write --replace with one of them."
                if classes
                else "it defines no class."
            )
        return cls(f"{path} has no class {name} to replace; {cure}")

    @classmethod
    def module(cls, module: str, script: str) -> Self:
        return cls(
            f"--replace: there is no source of a module {module} where {script} would import it "
            "from. Write --replace MODULE.CLASS as the script's import has it, or --replace CLASS "
            "for a class of the script itself."
        )


class ExpressionError(RetrogradeError, ValueError):
    """An expression on the command line cannot be understood."""

    @classmethod
    def syntax(cls, text: str, why: str, column: int | None) -> Self:
        mark = f"\n  {text}\n  {' ' * (column - 1)}^" if column and "\n" not in text else ""
        return cls(f"the expression cannot be read: {why}.{mark}")

    @classmethod
    def suggested(cls, text: str, suggestion: str) -> Self:
        return cls(f"'{text}' is not how an expression is written; did you mean '{suggestion}'?")

    @classmethod
    def twice(cls, name: str) -> Self:
        return cls(f"'{name}' is given twice. Give each name one number.")

    @classmethod
    def part(cls, text: str, part: str) -> Self:
        where = "" if part == text.strip() else f" in '{text}'"
        return cls(
            f"an expression holds numbers, names, + - * / ** and functions such as relu(a*b), and "
            f"may begin with 'y ='; '{part}'{where} is none of these. Put a program into a file: "
            "retrograde explain script.py."
        )

    @classmethod
    def function(cls, name: str, names: list[str]) -> Self:
        cure = closest(name, names) or f"choose from {', '.join(names)}."
        return cls(f"there is no function '{name}'; {cure}")

    @classmethod
    def operands(cls, name: str, problem: str) -> Self:
        return cls(f"{name}: {problem}.")

    @classmethod
    def unknown(cls, names: list[str], given: list[str]) -> Self:
        listed = " and ".join(f"'{name}'" for name in names)
        numbers = " ".join(f"{name}=1.5" for name in names)
        have = f" (given: {', '.join(given)})" if given else ""
        verb = "has no number" if len(names) == 1 else "have no numbers"
        euler = " Euler's number is math.e, and its power exp(x)." if "e" in names else ""
        return cls(f"{listed} {verb}{have}. Add {numbers} after the expression.{euler}")

    @classmethod
    def unused(cls, name: str, names: list[str]) -> Self:
        known = ", ".join(names) or "none"
        return cls(f"'{name}' is given but not used: the names in the expression are {known}.")

    @classmethod
    def assignment(cls, text: str) -> Self:
        return cls(f"'{text}' is no NAME=NUMBER, as in a=2, rate=-0.5 or third=1/3.")

    @classmethod
    def constant(cls, text: str) -> Self:
        return cls(f"'{text}' holds no name, so there is no gradient: write x for a number, x=3.")

    @classmethod
    def options(cls, option: str) -> Self:
        return cls(
            f"there is no option '{option}'; retrograde explain --help lists them. What is meant "
            "for the script follows --, as in retrograde explain train.py -- --steps 10."
        )

    @classmethod
    def only_scripts(cls, option: str) -> Self:
        return cls(f"{option} is for scripts: it names one of their lines.")


class OutputError(RetrogradeError, OSError):
    """A file cannot be written."""

    @classmethod
    def of(cls, path: str, error: OSError) -> Self:
        return cls(
            f"cannot write {path}: {error.strerror or error}. Nothing was left there; choose "
            "another place."
        )
