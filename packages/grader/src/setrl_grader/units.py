r"""Units and currencies: 12.5 cm^2, \$20."""

from __future__ import annotations

import re

_UNIT = re.compile(
    r"(?P<number>.*(?:[\d})]|\\pi(?=\W)))\s*(?P<unit>[a-zA-Z]+\.?"
    r"(?:\^\{?[23]\}?|\s*/\s*[a-zA-Z]+|\s+[a-zA-Z]+\.?)*)\Z"
)

# What may follow a number as its unit; other words are part of the answer.
# A line has the names of one unit.
_LENGTHS = """
    m meter meters metre metres
    cm centimeter centimeters centimetre centimetres
    mm millimeter millimeters millimetre millimetres
    km kilometer kilometers kilometre kilometres
    nm
    dm
    in inch inches
    ft foot feet
    yd yard yards
    mi mile miles
"""
_OTHERS = """
    g gram grams
    kg kilogram kilograms
    mg milligram milligrams
    ton tons
    tonnes
    lb lbs pound pounds
    oz ounce ounces
    s sec secs second seconds
    min mins minute minutes
    h hr hrs hour hours
    day days
    week weeks
    month months
    year years yrs
    l L liter liters litre litres
    ml mL milliliter milliliters
    gallon gallons
    quart quarts
    pint pints
    cup cups
    mi/h mph
    km/h kph kmh
    J
    kJ
    N
    W
    kW
    V
    A
    Pa
    kPa
    Hz
    mol
    K
    C
    F
    $ dollar dollars USD bucks
    € euro euros EUR
    £
    ¥ yen
    ₹ rupees
    ruble rubles rouble roubles
    peso pesos
    cent cents
    degree degrees
    unit units
    person persons people
    student students
    way ways
    point points
    apple apples
    book books
    cookie cookies
    marble marbles
"""
_LINES = [line.split() for line in (_LENGTHS + _OTHERS).splitlines()]
_ONE_NAME = {name: names[0] for names in _LINES for name in names}
_SIGNS = "$€£¥₹"
LENGTHS = frozenset(_LENGTHS.split())
UNITS = frozenset(_ONE_NAME) - set(_SIGNS)
NOUNS = frozenset(" ".join(_OTHERS.split("unit units\n")[1].splitlines()).split())
"""Units that only count."""
_POWERS = [  # how a power, or a quotient, is said → how it is written
    (re.compile(rf"(?:{said})\.?\s+([a-zA-Z]+)|([a-zA-Z]+)\s+{behind}"), rf"\1\2^{power}")
    for said, behind, power in (("square|sq", "squared", 2), ("cubic|cu", "cubed", 3))
] + [(re.compile(r"\s+(?:per|an?)\s+"), "/")]

SHORT = {name for name in UNITS if 2 <= len(name) <= 3} | {"am", "pm", "rad"}
"""Units that follow a number without a space, so that their letters are no factors."""
PREFIXED = re.compile(r"[kMGcmdnpf](?:[msgAVWJNTFCK]|Pa|Hz|[Ll]|mol|cal|bar|eV)\Z")
"""Units that do so behind a space."""

_SIGNED = re.compile(r"([+-]?)\s*\\?([$€£¥₹])\s*([+-]?[\d.].*)\Z", re.DOTALL)


def split_currency(text: str) -> tuple[str, str]:
    r"""Split an amount from the sign of its currency: $, €, £, ¥ or ₹; "" if it has none.

    >>> split_currency(r"-\$20"), split_currency("20")
    (('-20', '$'), ('20', ''))
    """
    found = _SIGNED.match(text)
    return (found[1] + found[3], found[2]) if found else (text, "")


def one_name(unit: str) -> str:
    """Return the one name of a unit or a currency that has several.

    >>> one_name("dollars"), one_name("centimeters^2"), one_name("dog")
    ('$', 'cm^2', 'dog')
    """
    return re.sub(r"[a-zA-Z]+", lambda found: _ONE_NAME.get(found[0], found[0]), unit)


def split_unit(text: str) -> tuple[str, str]:
    r"""Split a normal form from the unit at its end: known units after a number, no other words.

    >>> split_unit("12.5 cm^2"), split_unit("12 square feet"), split_unit("5 million")
    (('12.5', 'cm^2'), ('12', 'feet^2'), ('5 million', ''))
    """
    found = _UNIT.match(text)
    if not found or found["number"].rstrip().endswith("\\") or len(found["unit"]) < 2:
        return text, ""
    unit = found["unit"]
    for said, written in _POWERS:
        unit = said.sub(written, unit)
    if not UNITS.issuperset(re.findall(r"[a-zA-Z]+", unit)) or re.search(r"\^\d\^", unit):
        return text, ""
    first = re.match(r"([a-zA-Z]+)\^", found["unit"])
    if first and first[1] not in LENGTHS | {"unit", "units"}:  # s² measures nothing
        return text, ""
    unit = re.sub(r"[{}.]|\s*(?=/)|(?<=/)\s*", "", unit.strip())
    return found["number"].strip(), re.sub(r"\s+", "·", unit)


def split_money(text: str) -> tuple[str, str]:
    """Split an amount from its currency, which stands before it as a sign, or behind it as a word.

    >>> split_money("$20"), split_money("20 dollars"), split_money("20 cm")
    (('20', '$'), ('20', 'dollars'), ('20 cm', ''))
    """
    behind = split_unit(text)
    found = behind if one_name(behind[1]) in _SIGNS else (text, "")
    return split_currency(text) if split_currency(text)[1] else found
