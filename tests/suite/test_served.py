"""What SGLang is given through entry points is what the suite tests."""

import json

import pytest

pytest.importorskip("torch")

PREFIX = """
import dataclasses, json, sys
from sglang_contracts.suite.session import open_session
from sglang_contracts.suite.served import entered, filled, platform_class, served_parts
from sglang_contracts.suite.engine import run_check
from sglang_contracts.suite.registry import find

session = open_session("sglang-kunlun-reference", "fake:0.5.21")
subject = session.subject


def outcome(check, subject):
    context = dataclasses.replace(session, subject=subject).context("quick")
    result = run_check(find(check), context)
    return [result.outcome, result.message]


"""


def answers(fresh, code):
    done = fresh("-c", PREFIX + code)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_a_class_may_be_named_with_a_dot_or_a_colon(fresh):
    found = answers(
        fresh,
        "names = [f'kunlun_backend.srt_platform{mark}KunlunSRTPlatform' for mark in '.:']\n"
        "made = [platform_class(dataclasses.replace(subject, activate=lambda n=n: n)).__name__\n"
        "        for n in names]\n"
        "print(json.dumps(made))\n",
    )
    assert found == ["KunlunSRTPlatform", "KunlunSRTPlatform"]


def test_a_backend_registered_in_init_backend_is_found(fresh):
    found = answers(
        fresh,
        "from sglang.srt.layers.attention.attention_registry import register_attention_backend\n"
        "from kunlun_backend.backend import KunlunAttentionBackend as Backend\n"
        "class Platform(platform_class(subject)):\n"
        "    def init_backend(self):\n"
        "        register_attention_backend('kunlun')(lambda runner: Backend(runner))\n"
        "late = dataclasses.replace(subject, platform=Platform, register=(), make_backend=None)\n"
        "parts = served_parts(late, session.release)\n"
        "late = filled(late, session.release)\n"
        "print(json.dumps([sorted(parts), outcome('plugin.serves-what-it-declares', late),\n"
        "                  outcome('attention-registry.backend-is-registered', late)]))\n",
    )
    parts = ["allocator", "kv_pool", "latent_pool", "make_backend"]
    assert found == [parts, ["pass", ""], ["pass", ""]]


def test_the_device_may_have_another_name_than_the_entry_point(fresh):
    found = answers(
        fresh,
        "class Platform(platform_class(subject)):\n"
        "    device_name = 'kunlun-r200'\n"
        "other = dataclasses.replace(subject, platform=Platform)\n"
        "print(json.dumps(outcome('platform.activates-with-its-runtime', other)))\n",
    )
    assert found == ["pass", ""]


def test_a_difference_is_told_with_both_names(fresh):
    found = answers(
        fresh,
        "class Pool(subject.kv_pool):\n    pass\n"
        "class Platform(platform_class(subject)):\n"
        "    def get_kv_pool_cls(self, *, kind):\n        return Pool\n"
        "    def get_mha_kv_pool_cls(self):\n        return Pool\n"
        "other = dataclasses.replace(subject, platform=Platform)\n"
        "print(json.dumps(outcome('plugin.serves-what-it-declares', other)))\n",
    )
    assert found[0] == "fail"
    assert "__main__:Pool" in found[1]
    assert "kunlun_backend.pool:KunlunMHATokenToKVPool" in found[1]


def test_registries_are_put_back(fresh):
    found = answers(
        fresh,
        "from sglang.srt.layers.attention.attention_registry import ATTENTION_BACKENDS\n"
        "from sglang.srt.plugins.hook_registry import HookRegistry\n"
        "before = sorted(ATTENTION_BACKENDS), len(HookRegistry._hooks)\n"
        "with entered(subject) as there:\n"
        "    inside = 'kunlun' in there.backends, len(there.hooks)\n"
        "after = sorted(ATTENTION_BACKENDS), len(HookRegistry._hooks)\n"
        "print(json.dumps([before == after, *inside]))\n",
    )
    assert found[0] is True
    assert found[1] is True
    assert found[2] >= 2
