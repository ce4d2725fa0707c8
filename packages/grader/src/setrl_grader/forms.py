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

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from math import gcd, inf, prod

from setrl_grader.expanded import NOTHING, Base, expanded, frozen, primes_of
from setrl_grader.marks import MARKS
from setrl_grader.names import is_named, value_of
from setrl_grader.normal_form import spaceless
from setrl_grader.numbers import literal
from setrl_grader.problem import formulas_of
from setrl_grader.trees import COUNTS, Part, Tree, exact_value, has, letters_of, walk, whole

_RATIONAL = {"number", "+", "-", "*", "/", "^", "!", "!!", "binom"}
_NUMBER = ("number",)
_NUMBERS = [set(), {NOTHING}, *({frozenset({(base, Fraction(1))})} for base in ("°", "π", r"\pi"))]
MAX_FACTORS = 20  # that a power is
LARGEST_FACTOR, LEAST_EXPONENT = 1_000, 3  # before a power of ten, and of it
_CIRCULAR = ("sin", "cos", "tan", "cot", "sec", "csc")
_FAMILIES = {  # functions that can be written by each other
    **dict.fromkeys((r"\ln", "log"), "logarithm"),
    **dict.fromkeys(("floor", "ceil"), "rounding"),
    **dict.fromkeys((rf"\{arc}{name}" for arc in ("", "arc") for name in _CIRCULAR), "angle"),
}

_BY_EACH_OTHER = {"count", *_FAMILIES.values()}


def is_undone(gold: Part, answer: Part, interval: bool = False) -> bool:
    r"""Whether an answer that is equal to a gold leaves something to do that the gold has done.

    If an interval is asked for, |x| < 2 is not solved.

    >>> from setrl_grader.grammar import parse
    >>> [is_undone(parse("391"), parse(text)) for text in (r"17\cdot23\cdot1^2", r"\frac{782}{2}")]
    [True, True]
    >>> is_undone(parse("x<2"), parse("2x+3<7")), is_undone(parse("y=x"), parse("2y=2x"))
    (True, False)
    """
    ours, theirs = [*_leaves(gold)], [*_leaves(answer)]
    in_bars = answer.kind == "relation" and not interval  # |x| < 2 may stay
    letters = len(_letters(gold)) < 1 + ("relation" in (gold.kind, answer.kind))
    return (
        not _set_operations(answer) <= _set_operations(gold)
        or _has_name_twice(gold, answer)
        or (letters and _is_unsolved(ours, theirs, in_bars))
        or _is_no_number(ours, theirs)
        or _leaves_more(gold, answer, ours, theirs)
    )


def _is_unsolved(ours: list[Tree], theirs: list[Tree], in_bars: bool) -> bool:
    """Whether an answer does operations on letters, and the gold does not."""
    mixed = [each for each in theirs if _is_mixed(each) and not (in_bars and each.op == "abs")]
    return bool(mixed) and not any(map(_is_mixed, ours))


def _is_no_number(ours: list[Tree], theirs: list[Tree]) -> bool:
    """Whether a gold of rational numbers has an answer with a constant of another kind."""
    is_exact = all(_is_number(each) and "." not in each.text for each in ours)
    return bool(ours) and is_exact and not all(map(_is_number, filter(_is_constant, theirs)))


def _leaves_more(gold: Part, answer: Part, ours: list[Tree], theirs: list[Tree]) -> bool:
    """Whether an answer leaves a kind of operation, or more of them than the gold."""
    in_words = any(has(tree, {"word"}) for tree in ours)
    given = [each for tree in ours for each in walk(tree)]
    read = (tree for tree in theirs if not (in_words and has(tree, {"word"})))
    known = [each for tree in read for each in walk(tree)]
    below = [degree for each in known if (degree := _degree_below(each)) < inf]
    if max(below, default=0) > sum(map(_degree_below, given)):
        return True
    left = _count_left(answer, (each for each in known if not _is_choice(each)))
    may_stay = _count_left(gold, given)
    if gold.kind == "ratio":
        may_stay["quotient"] += len(given)
    for kind in _BY_EACH_OTHER & {*may_stay}:  # ln x − ln 2 for ln(x/2)
        del left[kind]
    return not left <= may_stay


def _count_left(part: Part, trees: Iterable[Tree]) -> Counter[str]:
    """Count what is left to do in a statement, by kinds."""
    left = Counter(kind for each in trees for kind in _left(each))
    return left + Counter({"sum": int(_has_term_on_both_sides(part))})


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
    if tree.op in ("*", "^"):
        factors = [each for each, _ in _factors(tree)]
        powers = [_key_of(each.parts[0]) for each in factors if each.op == "^"]
        bases = {*powers, *(_key_of(each) for each in factors if each.op != "^")}
        return "*", len(powers) > len({*powers}), *sorted(bases)
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
    if tree.op in ("*", "/", "-", "degrees"):
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
    """Return what can be taken out in a statement: of a fraction or ratio, a root, or a factor."""
    terms = [[*_factors(each.tree)] for each in part.parts if part.kind == "ratio" and each.tree]
    ratio = {"fraction"} if gcd(*(_content(each, 1) for each in terms)) > 1 else set[str]()
    return ratio.union(
        kind for tree in _leaves(part) for each in walk(tree) for kind in _reducible(each)
    )


def _reducible(tree: Tree) -> Iterator[str]:
    root = tree.op == "root" or (tree.op == "^" and whole(tree.parts[1]) is None)  # 12^{1/2}
    if root and any(abs(factor.numerator) > 1 for factor in expanded(tree).values()):
        yield "root"
    if tree.op not in ("*", "/"):
        return
    factors = [*_factors(tree)]
    if gcd(*(_content(factors, sign) for sign in (1, -1))) > 1 or (
        tree.op == "/" and tree.parts[1].text == "1"
    ):
        yield "fraction"
    if any(sign < 0 and has(each, {"root"}) for each, sign in factors):
        yield "root below"
    others = [each for each, _ in factors if not _is_of_numbers(each)]
    if len(others) > 1 and any(each.op == "+" and _content([(each, 1)], 1) > 1 for each in others):
        yield "factor"


def _content(factors: list[tuple[Tree, int]], sign: int) -> int:
    """Return the largest whole number that can be taken out of a product, also of its sums."""
    sums = (each for each, place in factors if place == sign and each.op == "+")
    inside = ([_coefficient([*_factors(term)], 1) for term in _terms(each)] for each in sums)
    return _coefficient(factors, sign) * prod(gcd(*each) for each in inside)


def _coefficient(factors: list[tuple[Tree, int]], sign: int) -> int:
    return prod(
        int(each.text) for each, place in factors if place == sign and each.text.isdecimal()
    )


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
    """Whether an operation is done on letters."""
    return bool(tree.parts) and not _is_constant(tree)


def _has_name_twice(gold: Part, answer: Part) -> bool:
    """Whether the gold's name is alone on one side of an answer, and also on the other."""
    name = gold.parts[0].tree if is_named(gold) else None
    sides = (
        [each.tree for each in answer.parts if each.tree] if name and answer.marks == "=" else []
    )
    return name in sides and any(name != each and name in walk(each) for each in sides)


def _is_number(tree: Tree) -> bool:
    """Whether nothing is in an expression but a rational number, one of degrees, or times π."""
    return {*expanded(tree)} in _NUMBERS


def _has_term_on_both_sides(part: Part) -> bool:
    """Whether the sides of a relation have a term with letters in common: x² + y = x² + 1."""
    sides = [{*expanded(each.tree)} for each in part.parts if each.tree]
    return (
        part.kind == "relation"
        and len(sides) > 1
        and bool(sides[0].intersection(*sides[1:]) - {NOTHING})
    )


def _is_rational(tree: Tree) -> bool:
    """Whether a number is an integer, a fraction, a decimal, or a power of one of them."""
    power = tree.op == "^" and whole(tree.parts[1]) is not None and _is_rational(tree.parts[0])
    return power or literal(tree) is not None


def _left(tree: Tree) -> Iterator[str]:
    """Yield the kinds of operations that are left to do outermost in an expression."""
    if tree.op == "+":
        yield from _left_of_sum(tree)
    elif tree.op in ("*", "/"):
        yield from _left_of_product(tree)
    elif tree.op == "^":
        yield from _left_of_power(*tree.parts)
    elif tree.op in COUNTS or tree.op in _FAMILIES:
        yield _FAMILIES.get(tree.op, "count")
    elif tree.op == "root":
        yield from _left_of_root(tree)
    elif tree.op == "-":
        yield from ["one"] * (tree.parts[0].op == "-")
    elif tree.op == r"\exp":
        yield from ["one"] * ({*expanded(tree)} == {NOTHING})
    elif tree.op == "abs" or (tree.op.startswith("\\") and tree.op != r"\exp"):
        yield from [tree.op] * (not letters_of(tree))


def _is_choice(tree: Tree) -> bool:
    """Whether a binomial coefficient is the usual name of its polynomial: of n over 2."""
    return tree.op == "binom" and bool(letters_of(tree)) and (whole(tree.parts[1]) or 0) > 1


def _left_of_sum(tree: Tree) -> Iterator[str]:
    """Yield "sum" where like terms are written: √12 + √27, x + 2x; n² − (n − 1)² cancels n²."""
    total, parts = expanded(tree), [*map(expanded, _terms(tree))]
    alike = Counter(powers for each in parts for powers in each if powers or len(each) == 1)
    within = {powers for each in tree.parts for powers in expanded(each)}
    within -= {NOTHING} if len(total) > 1 else set()
    if max(alike.values(), default=0) > 1 or not within <= {*total}:
        yield "sum"
    yield from ["one"] * ({} in parts)


def _left_of_product(tree: Tree) -> Iterator[str]:
    """Yield "product" where factors can be made one: 2·3, √2·√3, x·x², (1 + i)(2 − i)."""
    factors = [*_flat(tree)]
    kinds = Counter((kind, sign) for each, sign in factors if (kind := _kind(each)))
    if literal(tree) is not None:
        left = tree.op == "*" and not _is_scientific(tree)
    else:
        both = tree.op == "/" and all(map(_is_rational, tree.parts))
        left = both or max(kinds.values(), default=0) > 1
        yield from ["base"] * _have_a_base_in_common(factors)
    yield from ["product"] * left
    yield from ["quotient"] * (("sum", -1) in kinds or _is_quotient_left(tree))
    numbers = (literal(each) for each in tree.parts if tree.op == "*" and literal(tree) is None)
    yield from ["one"] * any(each is not None and each.value in (0, 1) for each in numbers)


def _is_scientific(tree: Tree) -> bool:
    """Whether a power of ten is in the form of an answer: 3·10⁸, 250 million, and no 0.36·10²."""
    number, power = literal(tree.parts[0]), tree.parts[1]
    return number is not None and 1 <= abs(number.value) < LARGEST_FACTOR and _is_long(power)


def _is_long(power: Tree) -> bool:
    return abs(whole(power.parts[1]) or 0) >= LEAST_EXPONENT


def _kind(factor: Tree) -> str:
    """Return which numbers a factor is one of: of two of a kind the product is one."""
    if _is_rational(factor) or letters_of(factor):
        return "number" * (not letters_of(factor))
    terms = expanded(factor)
    is_algebraic = any(_is_root(base) for powers in terms for base, _ in powers)
    return ("sum" if len(terms) > 1 else "root") * is_algebraic


def _is_root(base: Base) -> bool:
    """Whether a power of a base is a number of another kind: √2 and i, unlike π."""
    return isinstance(base, int) or base == "i"


def _have_a_base_in_common(factors: list[tuple[Tree, int]]) -> bool:
    """Whether a base is in two factors: x·x², √6/√2, √2(√2 + 1), a sum above and below a line."""
    exponents = defaultdict[tuple[Base, int], list[Fraction]](list)
    for factor, sign in factors:
        for base, exponent in _powers(factor):
            exponents[base, exponent.denominator].append(sign * exponent)
    return any(
        len(each) > 1 and (isinstance(base, tuple) or {*each} not in ({1}, {-1}))
        for (base, _), each in exponents.items()
    )


def _powers(factor: Tree) -> Iterator[tuple[Base, Fraction]]:
    """Yield the powers that a factor is a product of, and the roots in a sum."""
    inside = literal(factor.parts[0]) if factor.op == "root" else None
    whole_power = factor.op == "^" and whole(factor.parts[1]) is not None
    terms = expanded(factor.parts[0] if whole_power else factor)
    if inside is not None and inside.value:
        for prime, _ in primes_of(abs(inside.value)):
            yield prime, Fraction(1, whole(factor.parts[1]) or 2)
    elif len(terms) > 1:
        yield frozen(terms), Fraction(1)
        yield from {each for powers in terms for each in powers if _is_root(each[0])}
    else:
        yield from (each for powers in expanded(factor) for each in powers)


def _flat(tree: Tree, sign: int = 1) -> Iterator[tuple[Tree, int]]:
    """Yield the factors of a product as they are written, with -1 if they are below a line."""
    if tree.op not in ("*", "/", "-", "degrees") or _is_rational(tree):
        yield tree, sign
        return
    for at, part in enumerate(tree.parts):
        yield from _flat(part, -sign if tree.op == "/" and at else sign)


def _left_of_root(root: Tree) -> Iterator[str]:
    """Yield what is left: √(2 + √3), √√2, √4, ∛n³; also if it is written as a power."""
    inside = expanded(root.parts[0])
    of_roots = len(inside) > 1 or any(exponent < 1 for powers in inside for _, exponent in powers)
    is_sure = not letters_of(root) or (whole(root.parts[1]) or 0) % 2  # √x² is |x|
    if of_roots and not letters_of(root):
        yield "root of roots"
    if is_sure and all(
        exponent.denominator == 1 for powers in expanded(root) for _, exponent in powers
    ):
        yield "root"


def _left_of_power(base: Tree, exponent: Tree) -> Iterator[str]:
    """Yield what is left: 3¹⁰, (1 + √2)², i², (x²)³; e², 2^{1/3} and 10⁸ are values."""
    power, tree = whole(exponent), Tree("^", (base, exponent))
    bare = base.parts[0] if base.op == "-" else base
    if exponent.text in ("0", "1") or base.text in ("0", "1"):
        yield "one"
    elif letters_of(tree):
        again = bare.op in ("^", "root") and whole(bare.parts[1]) is not None
        again = again or (bare.op == "*" and not all(map(letters_of, bare.parts)))
        yield from ["power"] * (again and power is not None)
    elif power is None:
        yield from _left_of_root(tree) if literal(exponent) else ()
        yield from ["exponent"] * (exact_value(exponent, {}) is None)
    elif not (_is_long(tree) if bare.text == "10" else bare.op == "constant" and bare.text != "i"):
        yield from ["power"] * (bare.op not in COUNTS and not bare.op.startswith("\\"))


def _is_quotient_left(tree: Tree) -> bool:
    """Whether a quotient can be carried out in whole numbers: 290/2, (4x + 2)/2; 2/4 is a value."""
    if tree.op != "/" or tree.text:
        return False
    factors = [*_factors(tree)]
    bottom = _coefficient(factors, -1)
    return tree.parts[1].text == "1" or (bottom > 1 and _content(factors, 1) % bottom == 0)


def _degree_below(tree: Tree) -> float:
    """Return the degree below a line, which gives away that (x² + x)/x is not carried out."""
    return sum(_degree(each) for each, sign in _factors(tree) if sign < 0)


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
    copied = is_written_otherwise(gold, answer) and (
        _stands(answer, problem) or _has_operands_of(answer, problem, gold)
    )
    return copied and not _stands(gold, problem, True)


def _has_operands_of(answer: Part, problem: str, gold: Part) -> bool:
    """Whether a problem has all that an answer combines: x+2 and x+5, but not their product."""
    tree = value_of(answer).tree
    if tree is None or tree.op not in ("+", "*", "/", "^"):
        return False
    power = tree.op == "^" and whole(tree.parts[1]) is not None
    bare = [each.parts[0] if each.op == "-" else each for each in tree.parts]
    operands = bare[:1] if power else bare
    several = len([each for each in operands if each.parts]) > (not power)
    known = several and {*map(_key_of, operands)} <= _keys(problem, False)
    return known and (power or is_another_form(gold, answer))


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
