"""The words that the rule reads, by what they do to a name."""

from __future__ import annotations

__all__: list[str] = []


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


JOINING = frozenset("-_.'\u2019/")
QUOTES = frozenset("\"'`*_\u201c\u201d\u201e\u2018\u2019\u201a\u00ab\u00bb\u300c\u300d[]")
AND = frozenset({"and", "or", "nor", "&", "/"})
COMMAS = frozenset({",", "\u3001"})
NOUNS = _words("building buildings node nodes id ids no nr number candidate option # trade")
ARTICLES = _words("the a an")
FILLERS = QUOTES | NOUNS | ARTICLES | _words("at in of both either : =")
SENTENCE_ENDS = frozenset(".;!?\n\u3002") | {"..."}
BREAKS = SENTENCE_ENDS | COMMAS | frozenset(":()|\u2014\u2013\u00a1\u00bf")
CLAUSES = BREAKS | _words(
    "but because since which so while whereas although though hence therefore thus"
)
SUBJECTS = _words("i we you")
AUXILIARIES = _words(
    "is was are were does do did would will can could should has have had be been being must shall"
    " may might seems seem looks appears proves remains ranks comes turns to s d ll re"
)
BEING = _words("is was are were be been being s re")
DESCRIBING = ARTICLES | _words(
    "my our very too quite rather much far even just still also now thus simply really most more"
    " such one of by"
)
MODALS = _words("should must can could may might will would shall ought")

# What turns a name down.
NEGATORS = _words("not never cannot neither nor")
NOTHING = _words("no none nothing nowhere nobody")
NO_CAUSE = _words("reason point sense use benefit advantage way gain")
NO_OBJECTION = _words("doubt question wonder")
WEAKENED = _words("only just merely")
THINKING = _words("think believe find say mean consider expect true sure that as whether")
EVERY = _words("anything anywhere anyone everything everywhere all any every each no")
EXCEPTING = _words("except excepting unlike without")
BEATING = _words(
    "beats beat beating outperforms outperform exceeds exceed surpasses surpass tops above"
    " versus vs"
)
EQUALLING = _words("match matches rival rivals equal equals compete competes")
COMPARATIVE = _words(
    "better more higher greater superior preferable ahead wins win chosen preferred favoured"
    " favored"
    " choose choosing chose pick picking select selecting recommend prefer advantage"
)
RELATING = _words("compared comparing relative opposed contrast comparison")
LESS = _words("less lower fewer smaller")
MORE = _words("more higher greater larger")
COSTLY = _words("cost costs price prices expensive")
WORSE = _words("worse inferior weaker")
REFUSING = _words(
    "reject rejecting refuse refusing avoid avoiding exclude excluding discard discarding dismiss"
    " dismissing eliminate eliminating skip abandon"
)
REFUSED = _words(
    "rejected refused avoided excluded discarded dismissed eliminated skipped abandoned dropped"
    " ruled"
)
ILL = _words("wrong bad mistake unwise foolish poor worst pointless mistaken")
BEATEN = _words("beaten surpassed topped matched outperformed exceeded bettered improved rivalled")
BAD = (
    REFUSED | ILL | WORSE | BEATEN | _words("suboptimal loses lose lost unsuitable out fails fail")
)
ASIDE = _words("alternative alternatives fallback backup runner")
ASIDE_OF_LABEL = (
    ASIDE
    | ILL
    | _words("second third next other another previous earlier former initial prior old")
)

# What chooses a name.
SUPERLATIVE = _words("best optimal optimum winner wins win won superb")
LEADING = _words("better superior preferable")
DECIDING = _words(
    "choose chose pick picked select recommend prefer suggest propose advise decide decided opt go"
    " settle take place allocate send put increase raise expand build upgrade assign station locate"
    " chosen"
)
DECIDING_GERUND = _words("choosing picking selecting placing recommending taking going opting")
DECIDED = _words(
    "chosen selected picked recommended preferred placed stationed assigned sent located allocated"
    " expanded increased raised upgraded"
)
SUPPOSING = _words("if suppose supposing assuming when whether could might may can had to consider")
OFFERING = _words("between among amongst from")
VERDICT = _words("choice answer decision pick recommendation selection")
LABEL_NOUNS = VERDICT | _words("winner conclusion verdict")
LABEL_ADJECTIVES = _words(
    "best optimal recommended final chosen selected preferred optimum favoured favored"
)
CONCLUDING = _words("therefore thus hence so consequently accordingly")
TELLING = _words(
    "yields yield gives give has have had earns makes gets reaches costs is are was would will : ="
)
UNDECIDED = _words("none nothing nowhere unknown undecided null nobody")

# What tells a number that measures from one that names.
MEASURES = _words(
    "by level levels price prices profit profits cost costs value values power share rank step year"
    " about roughly approximately than worth result results $ \u20ac \u00a3 ~"
)
UNITS = _words(
    "level levels % percent times units steps points rows st nd rd th buildings nodes candidates"
    " options ducats"
)
LINKS = QUOTES | _words("of is was at to = : from")

ACTIONS = DECIDING | REFUSING | REFUSED
"""What a candidate may well be called ("expand", "reject"): such names count like any other."""

RULE_WORDS = frozenset().union(
    AND, NOUNS, FILLERS, CLAUSES, SUBJECTS, AUXILIARIES, DESCRIBING, MODALS, NEGATORS, NOTHING,
    NO_CAUSE, NO_OBJECTION, WEAKENED, THINKING, EVERY, EXCEPTING, BEATING, EQUALLING, COMPARATIVE,
    RELATING, LESS, MORE, COSTLY, BAD, ASIDE_OF_LABEL, SUPERLATIVE, LEADING, CONCLUDING,
    DECIDING_GERUND, DECIDED, SUPPOSING, OFFERING, LABEL_NOUNS, LABEL_ADJECTIVES, UNDECIDED,
    TELLING, MEASURES, UNITS, {"over", "against", "instead", "away"},
) - ACTIONS  # fmt: skip
"""A name that is one of these is a name only where it is meant as one."""
