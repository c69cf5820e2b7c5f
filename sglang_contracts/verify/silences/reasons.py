"""All reasons for which something found is not reported, or is reported softer.

A reason that depends on an object looks at the object: the class that owns the member, not the
member's name. Each has its page in ``silences.toml`` beside this module (``explain ID`` prints it),
a fixture in which it must silence and one in which it must not (``tests/verify/silences/ID``).
"""

from __future__ import annotations

from collections.abc import Mapping

from sglang_contracts.verify.silences.silence import Effect, Rests, Silence

SUPPLIED = Silence(
    "supplied",
    "the plugin itself sets it on objects of that class",
    Rests.OBJECT,
)
OWN_OBJECT = Silence(
    "own-object",
    "the plugin puts an object of another class there, which has it",
    Rests.OBJECT,
)
SET_BY_SGLANG = Silence(
    "set-by-sglang",
    "SGLang sets it from outside on what goes by that name",
    Rests.NAME,
)
STILL_READ = Silence(
    "still-read",
    "the release still reads what is written",
    Rests.OBJECT,
)
COMPATIBILITY_WRITE = Silence(
    "compatibility-write",
    "it is written where the object was asked for something else first",
    Rests.OBJECT,
)
PUT_WHERE_MISSING = Silence(
    "put-where-missing",
    "it is written just where it was found missing",
    Rests.OBJECT,
)
READ_BACK = Silence(
    "read-back",
    "the function reads back what it writes: it is the plugin's own",
    Rests.OBJECT,
)
OTHER_BRANCH = Silence(
    "other-branch",
    "its branch is not taken in this release",
    Rests.PLACE,
)
GUARDED = Silence(
    "guarded",
    "its failure is caught, and there is another way",
    Rests.PLACE,
    Effect.SOFTENS,
)
TURNED_OFF = Silence(
    "turned-off",
    "its failure is caught, and only what it is for is off",
    Rests.PLACE,
    Effect.SOFTENS,
)
ASKED_FIRST = Silence(
    "asked-first",
    "it is only asked for, and the answer is taken up",
    Rests.PLACE,
    Effect.SOFTENS,
)
TEXT_ALONE = Silence(
    "text-alone",
    "it stands in a text, of which nothing tells that it is looked up",
    Rests.PLACE,
    Effect.SOFTENS,
)
WRITTEN = Silence(
    "written",
    "setting an attribute of an object does not fail, it has no effect",
    Rests.OBJECT,
    Effect.SOFTENS,
)
IGNORED_KEYWORD = Silence(
    "ignored-keyword",
    "the class leaves out keywords that it does not know",
    Rests.OBJECT,
    Effect.SOFTENS,
)
NO_EFFECT = Silence(
    "no-effect",
    "setting a variable does not fail, it has no effect",
    Rests.PLACE,
    Effect.SOFTENS,
)
MAY_BE_SET = Silence(
    "may-be-set",
    "whoever makes the object may set it",
    Rests.OBJECT,
    Effect.SOFTENS,
)
HANDED_ON = Silence(
    "handed-on",
    "it only hands on what the original is given, or gives",
    Rests.PLACE,
    Effect.SOFTENS,
)
UNPROVEN = Silence(
    "unproven",
    "of what kind the argument is cannot be told",
    Rests.OBJECT,
    Effect.SOFTENS,
)
ASKED_FOR = Silence(
    "asked-for",
    "whoever makes the object may set it, and the plugin asks for it",
    Rests.NAME,
    Effect.SOFTENS,
)
NEVER_COMPLETE = Silence(
    "never-complete",
    "the class lacks it in every recorded release",
    Rests.OBJECT,
    Effect.SOFTENS,
)
NOTHING_INSTEAD = Silence(
    "nothing-instead",
    "nothing took its place: the override is dead, and breaks nothing",
    Rests.OBJECT,
    Effect.SOFTENS,
)
KEPT_BESIDE = Silence(
    "kept-beside",
    "the plugin has the new override as well, or calls the old one itself",
    Rests.OBJECT,
    Effect.SOFTENS,
)
WAS_DUTY = Silence(
    "was-duty",
    "it was abstract: releases before need it",
    Rests.OBJECT,
    Effect.SOFTENS,
)
NEVER_STOOD_IN = Silence(
    "never-stood-in",
    "it never took what its base takes: its callers are the plugin's own",
    Rests.OBJECT,
    Effect.SOFTENS,
)
SPECIAL_PATH = Silence(
    "special-path",
    "it is passed on a special path alone, which objects of this class may never see",
    Rests.OBJECT,
    Effect.SOFTENS,
)
RARELY_PASSED = Silence(
    "rarely-passed",
    "few of SGLang's calls pass it",
    Rests.OBJECT,
    Effect.SOFTENS,
)

SILENCES: Mapping[str, Silence] = {
    each.id: each for each in list(vars().values()) if isinstance(each, Silence)
}
"""Id → reason."""
