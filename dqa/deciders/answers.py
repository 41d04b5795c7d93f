"""Find the candidate that an answer names. Answers are validated, not interpreted.

If a text has labels, the answer is the text after the first label. Labels are "Final Answer:", and
words such as "Decision:" at the beginning of a line or sentence. An answer names a candidate if
exactly one candidate occurs in it as whole words. Case, accents, quotes, markup and the signs
between words are ignored. Of overlapping names, only the longest is used. A single number in an
answer is read as an id if it is the first word, the last word, or the word after the scenario's
noun.

An answer with a question mark, "not", "avoid" or a similar word may reject its candidate. Such an
answer is refused. An answer with no candidate or with several candidates is also refused. The error
message lists the possible answers.

If a question allows a free form (`dqa.core.question.Question.free_form`), an answer in this form is
accepted unchanged. The form may be the whole answer, or occur once in an answer that names no
candidate.

If a question asks for a statement, the answer must be one statement that only reads, and that runs
on the database of the question. A Markdown fence is removed. A statement that exceeds the time
limit is accepted, because scoring allows more time.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

from dqa.core.database import DEFAULT_LIMITS, Database, Limits
from dqa.core.decision import Decision
from dqa.core.errors import InvalidAnswerError, QueryError, StatementTimeoutError
from dqa.core.question import Candidate, Question, fits_form, forms_of
from dqa.core.text import shortened
from dqa.deciders.candidates import MOST_COMPARED, nouns_of
from dqa.deciders.reviewing import describe_refusal, settle_statement

_LISTED = 40
"""The maximum number of candidates in a message."""
_NAMED = 5
_SHOWN = 80
"""The maximum number of characters of an answer in a message."""

_WORD = re.compile(
    r"(?P<number>(?:(?<![\w)\]])[-\u2212])?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:\s?%)?)"
    r"|[^\W\d_]+"
)
_SEPARATORS = re.compile(r"[\s\-_.'\u2019/&()\[\]]*")
"""The signs between the words of a name. An answer may use other signs, or none."""
_LABEL = re.compile(
    r"(?:\A|[\n.!?;,{<])[ \t>*_#\"'`~({<-]{0,20}(?:(?:my|our|the)[ ])?(?:final[ _])?"
    r"(?:answer|decision|choice)(?![^\W_])[ \t*_\"'`)]{0,20}(?:[:=>\n]|is\b)",
    re.IGNORECASE,
)
_REJECTION = re.compile(
    r"[?]|n[\u2019']t\b|\b(?:not?|none|nobody|never|neither|nor|cannot|without|except|unless|whether"
    r"|but|against|than|instead|away|out|avoid\w*|reject\w*|refus\w*|dismiss\w*|bad|poor|wrong"
    r"|wors[et]\w*|mistake|alternative|nicht|kein\w*|ohne)\b",
    re.IGNORECASE,
)
"""Words and signs that may reject a candidate, anywhere in an answer."""

_FENCE = re.compile(r"```[ \t]*\w*[ \t]*\n?(?P<inside>.*?)```", re.DOTALL)
_STATEMENT_LABEL = re.compile(r"\A(?:sql|statement|query)[ \t]*:\s*", re.IGNORECASE)

_Names: TypeAlias = Mapping[tuple[str, ...], tuple[Candidate, ...]]


def choice_of(
    answer: str, question: Question, candidates: Sequence[Candidate] | None
) -> Candidate | None:
    """Return the candidate that an answer names; None if the candidates are unknown.

    Parameters
    ----------
    answer
        The text of a decider or its model.
    question
        The question. An answer may put the scenario's noun for candidates before or after the name.
    candidates
        The candidates.

    Raises
    ------
    InvalidAnswerError
        The answer names no candidate or several. The message tells the model what to write.
    """
    if not candidates and (candidates is None or not question.free_form):
        return None
    return read_answer(answer, candidates, nouns_of(question), form=question.free_form)


def choice_in(
    decision: Decision,
    question: Question,
    candidates: Sequence[Candidate],
    *,
    equally_good: bool = False,
) -> Candidate:
    """Return the candidate that a decision chose, or that its answer names.

    The choice of a user's own decider may be unchecked, so it is used only if it is a candidate.
    See `read_answer` for `equally_good` and for errors.
    """
    if decision.choice is not None and decision.choice in candidates:
        return decision.choice
    return read_answer(decision.answer, candidates, nouns_of(question), equally_good=equally_good)


def read_answer(
    answer: str,
    candidates: Sequence[Candidate],
    nouns: Sequence[str] = ("candidate",),
    *,
    equally_good: bool = False,
    form: str = "",
) -> Candidate:
    """Return the candidate that an answer names, by the rule in the docstring of this module.

    Parameters
    ----------
    answer
        The text of a decider or its model.
    candidates
        The candidates.
    nouns
        Nouns for a candidate, such as "trade node". Messages use the first noun.
    equally_good
        Whether all candidates are equally good. If so, the answer may name several candidates, and
        the first of them is returned.
    form
        The free form; see `dqa.core.question.Question.free_form`.

    Raises
    ------
    InvalidAnswerError
        The answer names no candidate or several. The message tells the model what to write.
    """
    stripped = answer.strip()
    names, verbatim = _names_of(tuple(candidates))
    if stripped in verbatim:
        return verbatim[stripped]
    text = unicodedata.normalize("NFKC", answer)
    label = _LABEL.search(text)
    text = text if label is None else text[label.end() :]
    called = frozenset(_words(" ".join(nouns))) | {"id"}
    if form:
        # The model's own words in a free form must not be normalised.
        raw = stripped if (begins := _LABEL.search(stripped)) is None else stripped[begins.end() :]
        written, around = _find_in_form(raw, form)
        others, rest = _named_in(around, names, called)
        if len(written) == 1 and not others and not _REJECTION.search(rest):
            return written[0]
        if written:
            raise _invalid(stripped, (*written, *others), candidates, nouns[0], form)
    named, rest = _named_in(text, names, called)
    sure = not _REJECTION.search(rest)
    meant = [one for one in named if not _is_number(one) or _gives_id(text, called)]
    if meant and sure and (len(named) == 1 or equally_good):
        return meant[0]
    raise _invalid(stripped, named, candidates, nouns[0], form)


def _find_in_form(text: str, form: str) -> tuple[tuple[str, ...], str]:
    """Find the passages of a text that match a form; return them and the rest of the text.

    Case, and spaces around signs, are ignored. The passages are returned in the form's spelling. If
    a form ends with ``...``, the passage ends at the end of the line.
    """
    written: dict[str, None] = {}
    for one in forms_of(form):
        before, _, after = one.partition("...")
        words = rf"[^\n{re.escape(after[:1])}]+" if after else r"[^\n]+"
        own = r"\s*".join(map(re.escape, re.findall(r"\w+|[^\w\s]", before)))
        start = rf"(?<!\w){own}" if before[:1].isalnum() else own
        pattern = rf"(?i){start}(?P<words>{words}){re.escape(after)}"
        written |= dict.fromkeys(
            f"{before}{found['words'].strip()}{after}" for found in re.finditer(pattern, text)
        )
        text = re.sub(pattern, "", text)
    return tuple(one for one in written if fits_form(one, form)), text


@lru_cache(maxsize=8)
def _names_of(candidates: tuple[Candidate, ...]) -> tuple[_Names, Mapping[str, Candidate]]:
    """Return two mappings to candidates: from the words of a name, and from the exact name.

    The first mapping contains the words of each name twice: separate, and joined to one word.
    """
    names: dict[tuple[str, ...], tuple[Candidate, ...]] = {}
    for candidate in candidates:
        words = _words(str(candidate))
        for spelling in {words, ("".join(words),)} if words else ():
            names[spelling] = (*names.get(spelling, ()), candidate)
    return names, {str(candidate).strip(): candidate for candidate in candidates}


def _named_in(text: str, names: _Names, nouns: frozenset[str]) -> tuple[tuple[Candidate, ...], str]:
    """Return the different candidates that a text names, and the text without their names."""
    found = list(_WORD.finditer(text))
    words = [_folded(word) for word in found]
    longest = max(map(len, names), default=0)
    named: dict[Candidate, None] = {}
    rest, begin, end = "", 0, 0
    while begin < len(found):
        for after in range(min(begin + longest, len(found)), begin, -1):
            known = names.get(tuple(words[begin:after]), ())
            if known and _is_whole(text, found, begin, after, nouns):
                break
        else:
            begin += 1
            continue
        start, stop = found[begin].start(), found[after - 1].end()
        # The spelling distinguishes names that differ only in case or signs.
        named |= dict.fromkeys([one for one in known if str(one) == text[start:stop]] or known)
        rest, begin, end = rest + text[end:start], after, stop
    return tuple(named), rest + text[end:]


def _is_whole(
    text: str, found: Sequence[re.Match[str]], begin: int, after: int, nouns: frozenset[str]
) -> bool:
    """Return whether words of a text are a whole name. For example, ``12`` in ``B12`` is not."""
    name = found[begin:after]
    gaps = [text[one.end() : other.start()] for one, other in pairwise(name)]
    if not all(map(_SEPARATORS.fullmatch, gaps)):
        return False
    if (
        begin
        and _joined(text, found[begin - 1], name[0])
        and _folded(found[begin - 1]) not in nouns
    ):
        return False
    return after == len(found) or not _joined(text, name[-1], found[after])


def _joined(text: str, one: re.Match[str], other: re.Match[str]) -> bool:
    return text[one.end() : other.start()] in ("", "_", "-")


def _is_number(candidate: Candidate) -> bool:
    name = _WORD.fullmatch(str(candidate))
    return name is not None and name["number"] is not None


def _gives_id(text: str, nouns: frozenset[str]) -> bool:
    """Return whether the only number in a text is at its beginning, at its end, or after a noun."""
    words = _words(text)
    positions = [
        position for position, word in enumerate(words) if word[-1].isdigit() or word[-1] == "%"
    ]
    return len({words[position] for position in positions}) == 1 and any(
        position in (0, len(words) - 1) or words[position - 1] in nouns for position in positions
    )


def _words(text: str) -> tuple[str, ...]:
    normal = unicodedata.normalize("NFKC", text)
    return tuple(_folded(word) for word in _WORD.finditer(normal))


def _folded(match: re.Match[str]) -> str:
    """Return a word or a number in a normal form for comparisons."""
    decomposed = unicodedata.normalize("NFKD", match.group().casefold())
    word = "".join(sign for sign in decomposed if not unicodedata.combining(sign))
    if match["number"] is None:
        return word
    plain = word.replace(",", "").replace("\u2212", "-")
    whole, _, fraction = plain.partition(".")
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    digits = digits.lstrip("0") or "0"
    return f"{sign}{digits}.{fraction}" if fraction.strip("0") else f"{sign}{digits}"


def _invalid(
    said: str, named: tuple[Candidate, ...], candidates: Sequence[Candidate], noun: str, form: str
) -> InvalidAnswerError:
    """Return the error for an unusable answer, with the possible or the most similar answers."""
    quoted, count = shortened(said, _SHOWN), len(candidates)
    folded = {} if count > MOST_COMPARED else {str(one).casefold(): one for one in candidates}
    near = [folded[name] for name in get_close_matches(quoted.casefold(), folded, n=_NAMED)]
    some = ", ".join(map(str, named[:_NAMED]))
    if len(named) > 1:
        problem = f"'{quoted}' names more than one {noun}: {some}."
    elif named:
        problem = (
            f"'{quoted}' contains more than a name, so it is unclear whether it decides for {some}."
        )
    else:
        hint = f" (did you mean '{near[0]}'?)" if near else ""
        problem = f"'{quoted}' names no {noun} that can be chosen{hint}."
    shown = candidates if count <= _LISTED else near or candidates[:_NAMED]
    listed = ", ".join(json.dumps(str(one), ensure_ascii=False) for one in shown)
    forms = [f"exactly one of these: {listed}"] if shown else []
    if count > _LISTED:
        available = f"there are {count:,}, such as {listed}"
        forms = [f"exactly one {noun}, spelled as in the database ({available})"]
    if form:
        quoted_form = json.dumps(form, ensure_ascii=False)
        forms.append(f"{quoted_form} with your own words instead of the dots")
    advice = f"Give {', or '.join(forms)}." if forms else f"There is no {noun} to name."
    return InvalidAnswerError(problem, advice, named)


def statement_in(answer: str) -> str:
    """Return the statement of an answer without fence, label and final semicolon."""
    fenced = _FENCE.search(answer)
    text = answer if fenced is None else fenced["inside"]
    text = text.strip()
    if text.startswith("`") and text.endswith("`"):  # the backticks enclose the whole statement
        text = text.strip("`")
    return _STATEMENT_LABEL.sub("", text.strip()).rstrip("; \t\n")


def read_statement(answer: str, database: Database, limits: Limits = DEFAULT_LIMITS) -> str:
    """Return the statement in an answer, after running it.

    Parameters
    ----------
    answer
        The text of a decider or its model.
    database
        The database of the question.
    limits
        The limits of the statement; its rows are ignored.

    Raises
    ------
    InvalidAnswerError
        The answer is not a statement, is refused, or does not run. The message is for the model.
    InfrastructureError
        The database failed.
    """
    statement = statement_in(answer)
    advice = f"Answer only with one statement in {database.language} that does nothing but read."
    if not statement:
        raise InvalidAnswerError("The answer contains no statement.", advice)
    settled = settle_statement(statement, database)
    if settled.text is None:
        raise InvalidAnswerError(describe_refusal(settled), advice)
    statement = settled.text
    try:
        database.query(statement, Limits(rows=1, bytes=limits.bytes, seconds=limits.seconds))
    except StatementTimeoutError:
        return statement
    except QueryError as error:
        raise InvalidAnswerError(
            f"The answer does not run as a statement. {error}", advice
        ) from error
    return statement
