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
OVERRIDDEN_BELOW = Silence(
    "overridden-below",
    "a class of the plugin below that of the object has the method",
    Rests.OBJECT,
)
TAKEN_BELOW = Silence(
    "taken-below",
    "a class of SGLang below that of the object takes the call",
    Rests.OBJECT,
)
STILL_CALLED = Silence(
    "still-called",
    "SGLang still calls a method of that name on what the object may be",
    Rests.OBJECT,
)
NAMED_THERE = Silence(
    "named-there",
    "the modules of its base classes still name it",
    Rests.OBJECT,
)
TORCH_CALLS = Silence(
    "torch-calls",
    "torch calls it, with whatever the module is called with",
    Rests.OBJECT,
)
MADE_BY_PLUGIN = Silence(
    "made-by-plugin",
    "the plugin itself makes the objects of the class, or hands it on",
    Rests.OBJECT,
)
OWN_BASE = Silence(
    "own-base",
    "it is a base class of the plugin: those below it may provide it",
    Rests.OBJECT,
)
NOT_OBLIGATORY = Silence(
    "not-obligatory",
    "not all classes of SGLang provide it either",
    Rests.OBJECT,
)
LOOKED_AT = Silence(
    "looked-at",
    "the plugin asks what it is, or hands it to code that is not known here",
    Rests.OBJECT,
)
UNWRAPPED = Silence(
    "unwrapped",
    "its class takes it out of what its annotation says that it travels in",
    Rests.OBJECT,
)
FILLED_IN = Silence(
    "filled-in",
    "its class sees to it that it is set",
    Rests.OBJECT,
)
MENTIONED = Silence(
    "mentioned",
    "what stands around it names what takes the new form",
    Rests.NAME,
)
ASKS_ITSELF = Silence(
    "asks-itself",
    "the function asks what it is given before it uses it",
    Rests.OBJECT,
)
OPEN_TO_WRITES = Silence(
    "open-to-writes",
    "the object may still be written to where that is done",
    Rests.OBJECT,
)
ONE_OF_SEVERAL = Silence(
    "one-of-several",
    "it is one of several things that may be there, and another has it",
    Rests.OBJECT,
)
ELSEWHERE = Silence(
    "elsewhere",
    "no release up to this one has it there, and another class has it",
    Rests.NAME,
)
NOT_YET = Silence(
    "not-yet",
    "no release up to this one has it, and nothing shows that it is needed",
    Rests.PLACE,
)
NEVER_SEEN = Silence(
    "never-seen",
    "no recorded release has it, and a name or a question proves nothing",
    Rests.NAME,
)
NOT_ALWAYS_TOLD = Silence(
    "not-always-told",
    "of some releases nothing can be told",
    Rests.OBJECT,
)
INSTALLED = Silence(
    "installed",
    "the plugin puts a module of that name into sys.modules",
    Rests.NAME,
)
NEVER_FITTED = Silence(
    "never-fitted",
    "no recorded release takes it, and what is called is not certain",
    Rests.OBJECT,
)
NAME_DISAGREES = Silence(
    "name-disagrees",
    "what else is read off the object does not fit the class it is taken for",
    Rests.OBJECT,
)
OTHER_ENGINE = Silence(
    "other-engine",
    "the file is about another engine, whose objects go by the same names",
    Rests.PLACE,
)
ALTERNATIVE = Silence(
    "alternative",
    "another of the candidates that are tried is there",
    Rests.PLACE,
)
TYPING_ONLY = Silence(
    "typing-only",
    "only a type checker runs it",
    Rests.PLACE,
)
FALLBACK_UNUSED = Silence(
    "fallback-unused",
    "what it is the fallback for goes through",
    Rests.PLACE,
)
LEFT_OUT_BEFORE = Silence(
    "left-out-before",
    "the plugin's method left out other things before, and did without",
    Rests.OBJECT,
    Effect.SOFTENS,
)
PATCHED_WHERE_READ = Silence(
    "patched-where-read",
    "the plugin patches it where SGLang looks it up as well",
    Rests.OBJECT,
)
NO_CHANGE = Silence(
    "no-change",
    "what it was before does not show that anything has changed",
    Rests.OBJECT,
)
SET_BY_PLUGIN = Silence(
    "set-by-plugin",
    "the plugin sets the switch itself",
    Rests.NAME,
)
TO_COME = Silence(
    "to-come",
    "the branch is for releases that are not recorded yet",
    Rests.PLACE,
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

NOT_LOADED = Silence(
    "not-loaded",
    "this release never loads the file",
    Rests.PLACE,
    Effect.SOFTENS,
)
TEST_FILE = Silence(
    "test-file",
    "it stands in the tests of the plugin",
    Rests.PLACE,
    Effect.SOFTENS,
)
LONG_PAST = Silence(
    "long-past",
    "the branch is for releases before those that are recorded",
    Rests.PLACE,
    Effect.SOFTENS,
)

SILENCES: Mapping[str, Silence] = {
    each.id: each for each in list(vars().values()) if isinstance(each, Silence)
}
"""Id → reason."""
