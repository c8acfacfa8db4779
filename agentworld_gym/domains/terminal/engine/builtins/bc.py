"""`bc`: a calculator for numbers of any size, cut off after `scale` decimal places.

Its numbers are those of Python's `decimal`, cut off after the point as bc does it. No library has the language of bc.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import ROUND_DOWN, Decimal, InvalidOperation, localcontext

from bashkit import BuiltinContext, BuiltinResult

from agentworld_gym.domains.terminal.engine.builtins.bc_numbers import LIBRARY, cut, places_of, printed_number
from agentworld_gym.domains.terminal.engine.builtins.common import FileTree
from agentworld_gym.domains.terminal.engine.context import ShellContext

MAX_DIGITS = 2_000
MAX_STEPS = 20_000
_TOKEN = re.compile(
    r"(?P<number>\d+\.?\d*|\.\d+)|(?P<name>[a-z][a-z0-9_]*)|(?P<string>\"[^\"]*\")"
    r"|(?P<operator>\+\+|--|==|<=|>=|!=|&&|\|\||[-+*/%^]=|[-+*/%^()=<>!;{},\n])"
    r"|(?P<blank>[ \t]+|\\\n|#[^\n]*|/\*.*?\*/)",
    re.DOTALL,
)
_COMPARE: dict[str, Callable[[Decimal, Decimal], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
}


class _Wrong(Exception):
    """An error in the form in which bc prints it."""


class _Quit(Exception):
    """The program called `quit`."""


def bc(context: ShellContext, call: BuiltinContext) -> BuiltinResult:
    """`bc`: expressions, variables, `if`, `while`, `for`, `sqrt`, `length`, `scale`, and the library of `-l`."""
    program: list[str] = []
    tree = FileTree(context, call)
    library = False
    for word in call.argv:
        if word.startswith("-"):
            library |= word in ("-l", "--mathlib")
            continue
        try:
            program.append(bytes(tree.files.read_file(tree.path(word))).decode("utf-8", "replace"))
        except (RuntimeError, OSError):
            return BuiltinResult("", f"File {word} is unavailable.\n", 1)
    program.append(call.stdin or "")
    machine = _Bc(library)
    with localcontext() as arithmetic:
        arithmetic.prec = MAX_DIGITS
        arithmetic.rounding = ROUND_DOWN
        machine.run("".join(program))
    return BuiltinResult("".join(machine.out), "".join(machine.errors), 0)


class _Bc:
    def __init__(self, library: bool) -> None:
        self.scale = 20 if library else 0
        self.library = library
        self.variables: dict[str, Decimal] = {}
        self.out: list[str] = []
        self.errors: list[str] = []
        self.tokens: list[str] = []
        self.position = 0
        self.steps = 0
        self.silent = 0

    def run(self, program: str) -> None:
        try:
            for number, statement in enumerate(_statements(program), 1):
                try:
                    self.tokens, self.position = _tokens(statement), 0
                    self.block()
                except _Wrong as wrong:
                    self.errors.append(
                        f"{wrong}\n" if str(wrong).startswith("Runtime") else f"(standard_in) {number}: {wrong}\n"
                    )
                except (InvalidOperation, OverflowError, RecursionError):
                    self.errors.append("Runtime error (func=(main), adr=0): Out of range\n")
        except _Quit:
            return

    def peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        token = self.peek()
        if not token or (expected and token != expected):
            raise _Wrong("syntax error")
        self.position += 1
        return token

    def block(self) -> None:
        while self.peek():
            if self.peek() in (";", "\n"):
                self.take()
                continue
            if self.peek() == "}":
                return
            self.statement()
            if self.peek() not in (";", "\n", "}", ""):
                raise _Wrong("syntax error")

    def statement(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise _Wrong("Runtime error (func=(main), adr=0): Interrupted")
        token = self.peek()
        if token == "quit" or token == "halt":
            raise _Quit
        if token == "{":
            self.take()
            self.block()
            self.take("}")
        elif token in ("if", "while"):
            self.conditional()
        elif token == "for":
            self.loop()
        elif token == "print":
            self.printed()
        elif token.startswith('"'):
            self.show(self.take()[1:-1])
        else:
            start = self.position
            value = self.expression()
            assigned = self.position - start > 1 and self.tokens[start + 1] in ("=", "+=", "-=", "*=", "/=", "%=", "^=")
            if not (assigned and self.tokens[start][0].isalpha()):
                self.show(printed_number(value) + "\n")

    def show(self, text: str) -> None:
        if not self.silent:
            self.out.append(text)

    def printed(self) -> None:
        self.take()
        while True:
            if self.peek().startswith('"'):
                self.show(self.take()[1:-1].replace("\\n", "\n").replace("\\t", "\t"))
            else:
                self.show(printed_number(self.expression()))
            if self.peek() != ",":
                return
            self.take()

    def conditional(self) -> None:
        word, start = self.take(), self.position
        while True:
            self.position = start
            self.take("(")
            holds = bool(self.expression())
            self.take(")")
            self.guarded(holds)
            if word == "if" or not holds or self.silent:
                break
        if word == "if" and self.peek() == "else":
            self.take()
            self.guarded(not holds)

    def guarded(self, holds: bool) -> None:
        """Run a statement, or skip it where the condition does not hold."""
        if holds:
            self.statement()
            return
        kept = dict(self.variables), self.scale
        self.silent += 1
        self.statement()
        self.silent -= 1
        self.variables, self.scale = kept

    def loop(self) -> None:
        self.take()
        self.take("(")
        self.expression()
        self.take(";")
        test = self.position
        while True:
            self.position = test
            holds = bool(self.expression()) and not self.silent
            self.take(";")
            step = self.position
            self.guarded_expression()
            self.take(")")
            self.guarded(holds)
            end = self.position
            if not holds:
                return
            self.position = step
            self.expression()
            self.position = end

    def guarded_expression(self) -> None:
        kept = dict(self.variables), self.scale
        self.expression()
        self.variables, self.scale = kept

    def expression(self) -> Decimal:
        value = self.conjunction()
        while self.peek() == "||":
            self.take()
            right = self.conjunction()
            value = Decimal(bool(value) or bool(right))
        return value

    def conjunction(self) -> Decimal:
        value = self.comparison()
        while self.peek() == "&&":
            self.take()
            right = self.comparison()
            value = Decimal(bool(value) and bool(right))
        return value

    def comparison(self) -> Decimal:
        if self.peek() == "!":
            self.take()
            return Decimal(not self.comparison())
        value = self.sum()
        while self.peek() in _COMPARE:
            operator = self.take()
            value = Decimal(_COMPARE[operator](value, self.sum()))
        return value

    def sum(self) -> Decimal:
        value = self.product()
        while self.peek() in ("+", "-"):
            operator, right = self.take(), self.product()
            value = value + right if operator == "+" else value - right
        return value

    def product(self) -> Decimal:
        value = self.power()
        while self.peek() in ("*", "/", "%"):
            value = self.combined(value, self.take(), self.power())
        return value

    def combined(self, left: Decimal, operator: str, right: Decimal) -> Decimal:
        if operator == "*":
            places = min(places_of(left) + places_of(right), max(self.scale, places_of(left), places_of(right)))
            return cut(left * right, places)
        if not right:
            raise _Wrong("Runtime error (func=(main), adr=3): Divide by zero")
        if operator == "/":
            return cut(left / right, self.scale)
        quotient = cut(left / right, self.scale)
        return cut(left - quotient * right, max(self.scale + places_of(right), places_of(left)))

    def power(self) -> Decimal:
        value = self.unary()
        if self.peek() != "^":
            return value
        self.take()
        return self.raised(value, self.power())

    def raised(self, base: Decimal, exponent: Decimal) -> Decimal:
        count = int(exponent)
        if abs(count) * max(len(base.as_tuple().digits), 1) > MAX_DIGITS:
            raise _Wrong("Runtime error (func=(main), adr=0): exponent too large in raise")
        if count < 0:
            if not base:
                raise _Wrong("Runtime error (func=(main), adr=3): Divide by zero")
            return cut(1 / base**-count, self.scale)
        return cut(base**count if count else Decimal(1), min(places_of(base) * count, max(self.scale, places_of(base))))

    def unary(self) -> Decimal:
        token = self.peek()
        if token == "-":
            self.take()
            return -self.unary()
        if token in ("++", "--"):
            self.take()
            name = self.take()
            return self.assign(name, self.value(name) + (1 if token == "++" else -1))
        if token == "(":
            self.take()
            value = self.assignment() if self.assigning() else self.expression()
            self.take(")")
            return value
        if self.assigning():
            return self.assignment()
        if token and (token[0].isdigit() or token[0] == "."):
            return Decimal(self.take().rstrip(".") if token != "." else "0")
        if token and token[0].isalpha():
            return self.named()
        raise _Wrong("syntax error")

    def assigning(self) -> bool:
        following = self.tokens[self.position + 1] if self.position + 1 < len(self.tokens) else ""
        return bool(self.peek()[:1].isalpha()) and following in ("=", "+=", "-=", "*=", "/=", "%=", "^=")

    def assignment(self) -> Decimal:
        name, operator = self.take(), self.take()
        right = self.expression()
        if operator != "=":
            left = self.value(name)
            if operator == "^=":
                right = self.raised(left, right)
            elif operator in ("+=", "-="):
                right = left + right if operator == "+=" else left - right
            else:
                right = self.combined(left, operator[0], right)
        return self.assign(name, right)

    def assign(self, name: str, value: Decimal) -> Decimal:
        if name == "scale":
            self.scale = min(max(int(value), 0), MAX_DIGITS // 2)
        elif name not in ("ibase", "obase"):
            self.variables[name] = value
        return value

    def value(self, name: str) -> Decimal:
        if name == "scale":
            return Decimal(self.scale)
        return self.variables.get(name, Decimal(10 if name in ("ibase", "obase") else 0))

    def named(self) -> Decimal:
        name = self.take()
        if self.peek() == "(":
            self.take()
            argument = self.expression()
            self.take(")")
            return self.called(name, argument)
        value = self.value(name)
        if self.peek() in ("++", "--"):
            self.assign(name, value + (1 if self.take() == "++" else -1))
        return value

    def called(self, name: str, argument: Decimal) -> Decimal:
        if name == "sqrt":
            if argument < 0:
                raise _Wrong("Runtime error (func=(main), adr=4): Square root of a negative number")
            return cut(argument.sqrt(), max(self.scale, places_of(argument)))
        if name == "length":
            return Decimal(len(argument.as_tuple().digits))
        if name == "scale":
            return Decimal(places_of(argument))
        if self.library and name in LIBRARY:
            with localcontext() as arithmetic:
                arithmetic.prec = self.scale + 30
                return cut(LIBRARY[name](argument), self.scale)
        raise _Wrong(f"Runtime error (func=(main), adr=5): Function {name} not defined.")


def _statements(program: str) -> Iterator[str]:
    """Return the lines of a program, joined where braces are open."""
    pending, depth = "", 0
    for line in program.splitlines():
        pending += line + "\n"
        depth += line.count("{") - line.count("}")
        if depth <= 0 and not line.endswith("\\"):
            yield pending
            pending, depth = "", 0
    if pending:
        yield pending


def _tokens(text: str) -> list[str]:
    tokens, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _Wrong(f"illegal character: {text[position]}" if text[position] not in "\"'" else "syntax error")
        if match.lastgroup != "blank":
            tokens.append(match.group())
        position = match.end()
    return tokens


COMMANDS = {"bc": bc}
