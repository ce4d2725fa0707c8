r"""In which form an answer is given: operations done, conditions solved, nothing copied.

    left(answer) ⊆ left(gold)

An answer leaves no operation to do that the gold does not leave as well: 17·23 is no answer to 391,
but 3·2²⁰¹³ may have 6·2²⁰¹². What a problem asks for, the gold shows: where the problem holds a
formula that is equal to the gold and has another form, the answer must have the form of the gold.

An answer that copies a formula of the problem answers nothing. A formula stands there if it is
written there, up to spaces, the order of terms, factors and sides, and commas. Few-shot examples
before the problem do not count, nor do the options behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import chain, combinations
from math import gcd, inf, isqrt, prod

from setrl_grader.asked import formulas_of
from setrl_grader.marks import MARKS
from setrl_grader.names import is_named, value_of
from setrl_grader.normal_form import spaceless
from setrl_grader.numbers import literal
from setrl_grader.trees import COUNTS, Part, Tree, exact_value, has, letters_of, walk, whole

_ROUNDED = {"abs", "floor", "ceil", "log"}
_RATIONAL = {"number", "+", "-", "*", "/", "^", "!", "!!", "binom"}
_NUMBER = ("number",)
MAX_FACTORS = 20  # that a power is
LONGEST_RADICAND = 30  # digits of a number whose squares are taken out
_SMALL = (2, 3, 5, 7, 11, 13)  # primes whose powers are taken out of a root


def is_undone(gold: Part, answer: Part) -> bool:
    r"""Whether an answer that is equal to a gold leaves something to do that the gold has done.

    >>> from setrl_grader.grammar import parse
    >>> [is_undone(parse("391"), parse(text)) for text in (r"17\cdot23\cdot1^2", r"\frac{782}{2}")]
    [True, True]
    >>> is_undone(parse("x<2"), parse("2x+3<7")), is_undone(parse("y=x"), parse("2y=2x"))
    (True, False)
    """
    ours, theirs = [*_leaves(gold)], [*_leaves(answer)]
    if not _set_operations(answer) <= _set_operations(gold):
        return True
    solved = len(_letters(gold)) < 1 + ("relation" in (gold.kind, answer.kind))
    solved = solved and not any(map(_is_mixed, ours))
    if solved and any(map(_is_mixed, theirs)):
        return True
    given = [each for tree in ours for each in walk(tree)]
    known = [each for tree in theirs if not has(tree, {"apply", "word"}) for each in walk(tree)]
    left = {_kind_left(each) for each in known if not letters_of(each)}
    left |= {"quotient" for each in known if _is_quotient_left(each)}
    left |= {_kind_left(each) for each in known if each.op == "+"}
    if all(_degree(tree) < inf for tree in ours) and not any(map(_is_below, given)):
        left |= {"quotient" for each in known if _is_below(each)}
    numbers = [tree for tree in ours if _is_constant(tree)]
    angles = any(tree.op == "degrees" for tree in numbers)  # 30° may be π/6
    if numbers and not angles and all(map(_is_exact, numbers)):
        left |= {"root" for tree in theirs if _is_constant(tree) and not _is_rational(tree)}
    kinds = {"quotient" for each in given if gold.kind == "ratio" or _is_quotient_left(each)}
    return not left <= {"", *kinds, *map(_kind_left, given)}


def _set_operations(part: Part) -> set[str]:
    """Return the signs between sets that leave something to do; \u211d without points is a set."""
    signs = {*part.marks.split()} if part.kind == "union" else set()
    if not all(each.kind == "{}" for each in part.parts):
        signs -= {r"\cup"}
    kinds = [each.kind for each in part.parts]
    if part.kind == "union" and (part.parts[0].tree or kinds[-1] == "{}" != kinds[0]):
        signs -= {r"\setminus"}
    return signs.union(*map(_set_operations, part.parts))


def is_another_form(gold: Part, answer: Part) -> bool:
    """Whether an answer that is equal to a gold does not have its form."""
    name = _name_of(gold)
    same = _form_of(gold, name) == _form_of(answer, name)
    return not (same and _unreduced(answer) <= _unreduced(gold))


def is_another_notation(gold: Part, answer: Part) -> bool:
    """Whether two numbers are written as different kinds: 2.75, 11/4, 2¾; 3.0 is whole."""
    kinds = _notation(gold), _notation(answer)
    return bool(kinds[0] and kinds[1]) and kinds[0] != kinds[1]


def in_same_notation(gold: Part, answer: Part) -> bool:
    """Whether both are numbers, written as the same kind."""
    return bool(_notation(gold)) and _notation(gold) == _notation(answer)


def _number(part: Part) -> Fraction | None:
    tree = _value_tree(part)
    number = literal(tree) if tree else None
    return number.value if number else None


def _value_tree(part: Part) -> Tree | None:
    part = value_of(part)
    return part.parts[0].tree if part.kind == "percent" else part.tree


def _notation(part: Part) -> str:
    """Return the kind of a number, "whole", "decimal", "/", "mixed", …; "" of all else."""
    tree, value = _value_tree(part), _number(part)
    if tree is None or value is None:
        return ""
    bare = tree.parts[0] if tree.op == "-" else tree
    if bare.op != "number":
        return bare.text or bare.op
    return "whole" if value.denominator == 1 else "decimal"


def in_other_forms(gold: Part, problem: str) -> Iterator[Part]:
    """Yield the formulas of a problem that may be equal to the gold, and have another form."""
    for each in formulas_of(problem):
        if _may_be_same(gold, each) and is_another_form(gold, each):
            yield each


def is_written_otherwise(gold: Part, answer: Part) -> bool:
    """Whether an answer is more than a letter or the gold's numbers: another form of the gold."""
    part = value_of(answer)
    key = spaceless(part.text)
    marked = (MARKS[name].read(key) for name in ("a remainder", "an angle with minutes"))
    if part.kind in ("relation", "union", "ratio", "builder") or any(marked):
        return True
    if part.kind == "matrix" and not part.text.startswith((r"\begin", "[")):
        return True
    ours = set(map(_written, _leaves(gold)))
    return any(
        (each.op == "number" or each.parts) and _written(each) not in ours
        for each in map(_bare, _leaves(answer))
    )


def _keys_of(tree: Tree) -> list[str]:
    """Return a key of each part of an expression, its own last; terms and factors in any order."""
    inner = [*map(_keys_of, tree.parts)]
    own = [keys[-1] for keys in inner]
    own = sorted(own) if tree.op in ("+", "*") else own
    return [*chain(*inner), f"{tree.op} {tree.text}({','.join(own)})"]


def _key_of(tree: Tree) -> str:
    return _keys_of(tree)[-1]


def _bare(tree: Tree) -> Tree:
    return tree.parts[0] if tree.op in ("-", "degrees") and not tree.parts[0].parts else tree


def _written(tree: Tree) -> object:
    bare = _bare(tree)
    return Fraction(bare.text) if bare.op == "number" else _key_of(bare)


def _may_be_same(gold: Part, formula: Part) -> bool:
    """Whether it is worth comparing them; no form is asked for of the value of sin 30°."""
    one, other = value_of(gold).tree, value_of(formula).tree
    named = gold.kind == formula.kind == "relation" and gold.parts[0] != formula.parts[0]
    if named or one is None or other is None:
        return gold.kind == formula.kind == "relation" and _letters(gold) == _letters(formula)
    if not letters_of(other):
        functions = [
            {each.op for each in walk(tree) if each.op[0] == "\\"} for tree in (one, other)
        ]
        return not letters_of(one) and functions[1] <= functions[0]
    return letters_of(one) <= letters_of(other)


def _name_of(part: Part) -> str:
    return spaceless(part.parts[0].text) if is_named(part) else ""


def _form_of(part: Part, name: str) -> tuple[object, ...]:
    """Return the form of a statement, without the name that the gold has, or of any name."""
    if part.kind == "percent":
        return _form_of(part.parts[0], name)
    if name in ("", _name_of(part)):
        part = value_of(part)
    if part.tree is not None:
        return _form(part.tree)
    return part.kind, *sorted((_form_of(each, name) for each in part.parts), key=repr)


def _form(tree: Tree) -> tuple[object, ...]:
    """Return how an expression is built, without its order, and without numbers as factors."""
    tree = tree.parts[0] if tree.op == "degrees" else tree
    if _is_of_numbers(tree):
        return _form_of_number(tree)
    terms = [*_terms(tree)]
    if len(terms) > 1:
        return "+", *sorted((_NUMBER if _is_of_numbers(t) else _form(t) for t in terms), key=repr)
    factors = [each for each in _factors(tree) if not _is_of_numbers(each[0])]
    if len(factors) == 1 and factors[0][1] > 0 and factors[0][0].op == "+":
        return _form(factors[0][0])
    return "*", *sorted(((sign, _form_of_factor(each)) for each, sign in factors), key=repr)


def _form_of_factor(tree: Tree) -> tuple[object, ...]:
    if tree.op == "+":
        terms = [*_terms(tree)]
        below = any(sign < 0 and letters_of(each) for t in terms for each, sign in _factors(t))
        return "+", below, _degree(tree)
    if tree.op == "^":
        return "^", _form(tree.parts[0]), _key_of(tree.parts[1])
    return tree.op, tree.text, *map(_form, tree.parts)


def _degree(tree: Tree) -> float:
    """Return the degree of a polynomial; infinity for what is none."""
    if tree.op == "letter" or not letters_of(tree):
        return float(tree.op == "letter")
    degrees = [*map(_degree, tree.parts)]
    exponent = whole(tree.parts[1]) if tree.op == "^" else None
    if exponent is not None:
        return degrees[0] * abs(exponent)
    if tree.op in ("*", "/"):
        return sum(degrees)
    return max(degrees) if tree.op in ("+", "-") else inf


def _form_of_number(tree: Tree) -> tuple[object, ...]:
    if literal(tree) is not None and not has(tree, {"*", "^"}):
        return _NUMBER
    if tree.op == "-":
        return _form_of_number(tree.parts[0])
    if tree.op == "^":
        return "^", _form_of_number(tree.parts[0]), _key_of(tree.parts[1])
    return tree.op, *sorted(map(_form_of_number, tree.parts), key=repr)


def _is_of_numbers(tree: Tree) -> bool:
    """Whether only whole powers, sums, products and counts are in an expression without letters."""
    powers = (each.parts[1] for each in walk(tree) if each.op == "^")
    return all(each.op in _RATIONAL for each in walk(tree)) and None not in map(whole, powers)


def _terms(tree: Tree) -> Iterator[Tree]:
    """Yield the terms of a sum, also of sums in brackets in it."""
    if tree.op in ("+", "-"):
        for each in tree.parts:
            yield from _terms(each)
    else:
        yield tree


def _factors(tree: Tree, sign: int = 1) -> Iterator[tuple[Tree, int]]:
    """Yield the factors of a product, with -1 if they are below a line."""
    exponent = exact_value(tree.parts[1], {}) if tree.op == "^" else None
    if tree.op in ("*", "/", "-"):
        for at, part in enumerate(tree.parts):
            yield from _factors(part, -sign if tree.op == "/" and at else sign)
    elif exponent is None or abs(exponent) > MAX_FACTORS:
        yield tree, sign
    else:
        base, turned = tree.parts[0], sign if exponent > 0 else -sign
        top, bottom = abs(exponent).as_integer_ratio()
        base = base if bottom == 1 else Tree("root", (base, Tree("number", text=str(bottom))))
        power = Tree("^", (base, Tree("number", text=str(top)))) if top > 1 else base
        repeated = base.op == "+" and bottom == 1
        yield from [(base, turned)] * top if repeated else [(power, turned)]


def _unreduced(part: Part) -> set[str]:
    """Return what can be taken out in a statement: of a fraction, a root, or a factor."""
    return {kind for tree in _leaves(part) for each in walk(tree) for kind in _reducible(each)}


def _reducible(tree: Tree) -> Iterator[str]:
    roots = [tree, *(each for each, _ in _factors(tree) if tree.op == "^")]  # 12^{1/2}
    if any(each.op == "root" and not _is_square_free(each) for each in roots):
        yield "root"
    if tree.op not in ("*", "/"):
        return
    factors = [*_factors(tree)]
    if gcd(*(_coefficient(factors, sign) for sign in (1, -1))) > 1 or (
        tree.op == "/" and tree.parts[1].text == "1"
    ):
        yield "fraction"
    if any(sign < 0 and has(each, {"root"}) for each, sign in factors):
        yield "root below"
    others = [each for each, _ in factors if not _is_of_numbers(each)]
    if len(others) > 1 and any(each.op == "+" and _content(each) > 1 for each in others):
        yield "factor"


def _content(tree: Tree) -> int:
    """Return the largest whole number that can be taken out of a sum."""
    return gcd(*(_coefficient([*_factors(term)], 1) for term in _terms(tree)))


def _coefficient(factors: list[tuple[Tree, int]], sign: int) -> int:
    return prod(
        int(each.text) for each, place in factors if place == sign and each.text.isdecimal()
    )


def _is_square_free(root: Tree) -> bool:
    """Whether no power of a small prime can be taken out of a root."""
    degree = root.parts[1].text
    inside = _coefficient([*_factors(root.parts[0])], 1)
    return not degree.isdecimal() or all(inside % prime ** int(degree) for prime in _SMALL)


def _letters(part: Part) -> set[str]:
    inner = set() if part.tree is None else letters_of(part.tree)
    return inner.union(*map(_letters, part.parts))


def _leaves(part: Part) -> Iterator[Tree]:
    """Yield the expressions of a statement, without names before values."""
    part = value_of(part)
    if part.tree is not None:
        yield part.tree
    for each in part.parts:
        yield from _leaves(each)


def _is_constant(tree: Tree) -> bool:
    return not letters_of(tree) and not has(tree, {"apply", "word"})


def _is_mixed(tree: Tree) -> bool:
    """Whether an operation is done on letters; |x| < 2 is solved."""
    bare = tree.parts[0] if tree.op == "abs" else tree
    return bool(bare.parts) and not _is_constant(tree)


def _is_rational(tree: Tree) -> bool:
    """Whether a number is an integer, a fraction, a decimal, or a power of one of them."""
    if tree.op == "degrees":
        return _is_rational(tree.parts[0])
    power = tree.op == "^" and whole(tree.parts[1]) is not None and _is_rational(tree.parts[0])
    return power or literal(tree) is not None


def _is_exact(tree: Tree) -> bool:
    return _is_rational(tree) and not any("." in each.text for each in walk(tree))


def _kind_left(tree: Tree) -> str:
    """Return the kind of the operation that is left to do in a number; "" if none is."""
    if (tree.op.startswith("\\") and tree.op != r"\exp") or tree.op in _ROUNDED:
        return "function"
    if tree.op in COUNTS:
        return "count"
    if tree.op == "+":
        most = max(Counter(frozenset(_irrationals(term)) for term in _terms(tree)).values())
        return "sum" * (most > 1)  # of like terms
    if tree.op in ("*", "/"):
        both = tree.op == "/" and all(map(_is_rational, tree.parts))
        signs = Counter(sign for each, sign in _flat(tree) if _is_rational(each))
        both = both or max(signs.values(), default=0) > 1
        return "product" * ((both and literal(tree) is None) or _have_common_factor(_flat(tree)))
    if tree.op == "^":
        return "power" * _is_power_left(*tree.parts)
    return "root" * (tree.op == "root" and _is_root_of_power(tree))


def _flat(tree: Tree, sign: int = 1) -> Iterator[tuple[Tree, int]]:
    """Yield the factors of a product as they are written, with -1 if they are below a line."""
    if tree.op not in ("*", "/", "-") or _is_rational(tree):
        yield tree, sign
        return
    for at, part in enumerate(tree.parts):
        yield from _flat(part, -sign if tree.op == "/" and at else sign)


def _irrationals(term: Tree) -> Iterator[tuple[Tree | int, int]]:
    """Yield the factors of a term that are no rational numbers; like terms have the same."""
    factors = ((each, sign) for each, sign in _flat(term) if not _is_rational(each))
    return ((_without_squares(_radicand(each)) or each, sign) for each, sign in factors)


def _have_common_factor(factors: Iterable[tuple[Tree, int]]) -> bool:
    """Whether two square roots of a product can be made one: √12·√3, √6/√2."""
    inside = [number for each, _ in factors if (number := _radicand(each))]
    return any(gcd(*pair) > 1 for pair in combinations(inside, 2))


def _radicand(tree: Tree) -> int:
    """Return the whole number under a square root; 0 of anything else, and of a long number."""
    is_root = tree.op == "root" and tree.parts[1].text == "2" and tree.parts[0].text.isdecimal()
    return int(tree.parts[0].text) if is_root and len(tree.parts[0].text) <= LONGEST_RADICAND else 0


def _without_squares(number: int) -> int:
    """Return a whole number without the squares of small primes in it."""
    for prime in _SMALL:
        while number and number % prime**2 == 0:
            number //= prime**2
    return number


def _is_quotient_left(tree: Tree) -> bool:
    """Whether a quotient can be carried out in whole numbers: 290/2, (4x + 2)/2; 2/4 is a value."""
    if tree.op != "/" or tree.text:
        return False
    factors = [*_factors(tree)]
    top, bottom = (_coefficient(factors, sign) for sign in (1, -1))
    top *= prod(_content(each) for each, sign in factors if sign > 0 and each.op == "+")
    return tree.parts[1].text == "1" or (bottom > 1 and top % bottom == 0)


def _is_below(tree: Tree) -> bool:
    """Whether letters stand below a line, where a polynomial has none: (x² + x)/x is not x + 1."""
    below = (each for each, sign in _factors(tree) if sign < 0 and letters_of(each))
    return any(_degree(each) < inf for each in below)


def _is_power_left(base: Tree, exponent: Tree) -> bool:
    """Whether a power can be carried out: 3¹⁰, (1 + √2)², i²; e², 2^{1/3} and 10⁸ are values."""
    if exponent.text in ("0", "1") or base.text in ("0", "1"):
        return True
    bare = base.parts[0] if base.op == "-" else base
    value = bare.text == "10" or (bare.op == "constant" and bare.text != "i")
    return whole(exponent) is not None and not (value or _kind_left(bare) in ("count", "function"))


def _is_root_of_power(tree: Tree) -> bool:
    """Whether a root is a rational number, as √16 is."""
    value, degree = exact_value(tree.parts[0], {}), exact_value(tree.parts[1], {})
    if value is None or degree is None or degree.denominator > 1 or not 1 < degree < 64:
        return False
    return all(_is_power(each, int(degree)) for each in abs(Fraction(value)).as_integer_ratio())


def _is_power(number: int, degree: int) -> bool:
    if degree == 2:
        return isqrt(number) ** 2 == number
    about = round(number ** (1 / degree)) if number < 2**1000 else 0
    return number in {near**degree for near in (about - 1, about, about + 1)}


def is_copied(gold: Part, answer: Part, problem: str) -> bool:
    r"""Whether an answer stands in a problem, and the gold, which is written otherwise, does not.

    >>> from setrl_grader.grammar import parse
    >>> problem = "Solve $2x+3y=6$ for $y$, where $x>0$."
    >>> gold = parse(r"y=\frac{6-2x}{3}")
    >>> [is_copied(gold, parse(text), problem) for text in ("6=3y+2x", r"\frac{6-2x}{3}", "y")]
    [True, False, False]
    """
    if _number(answer) is not None:
        return False
    copied = is_written_otherwise(gold, answer) and _stands(answer, problem)
    return copied and not _stands(gold, problem, True)


def _stands(part: Part, problem: str, whole: bool = False) -> bool:
    """Whether a statement, its value, or each of its members stands in a problem, also within."""
    if part.parts and (part.kind == "list" or (part.kind in ("()", "{}") and not whole)):
        return all(_stands(each, problem, whole) for each in part.parts)
    value = value_of(part)
    whole = whole or (value.tree is not None and literal(value.tree) is not None)
    return not {_key(part), _key(value)}.isdisjoint(_keys(problem, whole))


@lru_cache(maxsize=1024)
def _keys(problem: str, whole: bool) -> frozenset[object]:
    return frozenset(key for formula in formulas_of(problem) for key in _all_keys(formula, whole))


def _all_keys(part: Part, whole: bool) -> Iterator[object]:
    yield _key(part)
    if part.tree is not None and not whole:
        yield from _keys_of(part.tree)
    for each in part.parts:
        yield from _all_keys(each, whole)


def _key(part: Part) -> object:
    """Return a key that is the same for statements that are written alike, in any order."""
    if part.tree is not None:
        return _key_of(part.tree)
    if part.kind != "relation":
        return spaceless(part.text)
    turned = part.marks.replace(">", "<").replace(r"\ge", r"\le")
    return turned, frozenset(map(_key, part.parts))
