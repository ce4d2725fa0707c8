"""What a person puts next to a config: functions of fields, in the interface of TRL's rewards."""


def length(completions, **_):
    return [float(len(text)) for text in completions]


def overlap(completions, **_):
    return [[float(len(set(one) & set(two))) for two in completions] for one in completions]


def family(completions, **_):
    return [text[:1] or "empty" for text in completions]


def nothing(completions, **_):
    return [0.0] * len(completions)


def half_are_right(completions, **_):
    return [place % 2 for place in range(len(completions))]


def first(text):
    return text[:1]


def is_short(text):
    return len(text) < 4
