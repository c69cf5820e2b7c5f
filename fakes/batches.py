"""Forward modes and the batch a backend is handed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sglang_contracts.fakes.behaviour import BY_RESULT, Given, method

if TYPE_CHECKING:
    from sglang_contracts.fakes.release import Fake

_MODE, _BATCH = "ForwardMode", "ForwardBatch"

BY_RESULT.update({_MODE, _BATCH, "CaptureHiddenMode"})


def _among(self: Any, *names: str) -> bool:
    """Whether a mode is one of those names; a release need not have all of them."""
    return self.name in names


@method(_MODE, "is_extend")
def _is_extend(fake: Fake, self: Any, given: Given) -> bool:
    plain = ("EXTEND", "MIXED", "DRAFT_EXTEND", "TARGET_VERIFY", "DLLM_EXTEND")
    if _among(self, *plain):
        return True
    if _among(self, "SPLIT_PREFILL"):
        # It counts as extend since the same change gave the predicate below its parameter.
        below = "is_extend_or_draft_extend_or_mixed"
        return "include_draft_extend_v2" in fake.parameters(self, below)
    return bool(given.get("include_draft_extend_v2")) and _among(self, "DRAFT_EXTEND_V2")


@method(_MODE, "is_extend_or_draft_extend_or_mixed")
def _is_extend_or_mixed(fake: Fake, self: Any, given: Given) -> bool:
    if _among(self, "EXTEND", "MIXED", "DRAFT_EXTEND"):
        return True
    if _among(self, "SPLIT_PREFILL"):
        return fake.records(self, "is_draft_extend_v2")
    return bool(given.get("include_draft_extend_v2")) and _among(self, "DRAFT_EXTEND_V2")


@method(_MODE, "is_draft_extend")
def _is_draft_extend(fake: Fake, self: Any, given: Given) -> bool:
    if _among(self, "DRAFT_EXTEND"):
        return True
    return bool(given.get("include_v2")) and _among(self, "DRAFT_EXTEND_V2")


@method(_MODE, "is_cuda_graph")
def _is_cuda_graph(fake: Fake, self: Any, given: Given) -> bool:
    return _among(self, "DECODE", "TARGET_VERIFY", "IDLE", "DLLM_EXTEND")


@method(_BATCH, "mark_forward_metadata_ready")
def _mark_ready(fake: Fake, self: Any, given: Given) -> None:
    self.forward_metadata_ready = True
    fake.assign(
        self,
        forward_metadata_planned_bs=self.batch_size,
        forward_metadata_planned_num_tokens=_tokens(self),
        forward_metadata_replan_equivalent=given.get("replan_equivalent", False),
    )


def _tokens(self: Any) -> int:
    return 0 if self.input_ids is None else int(self.input_ids.shape[0])


@method(_BATCH, "needs_forward_metadata_init")
def _needs_init(fake: Fake, self: Any, given: Given) -> bool:
    if not self.forward_metadata_ready:
        return True
    planned = (self.forward_metadata_planned_bs, self.forward_metadata_planned_num_tokens)
    return bool(self.forward_metadata_replan_equivalent) and planned != (
        self.batch_size,
        _tokens(self),
    )


@method(_BATCH, "contains_image_inputs", "contains_audio_inputs", "contains_video_inputs")
def _contains(fake: Fake, self: Any, given: Given) -> bool:
    if self.mm_inputs is None:
        return False
    raise NotImplementedError("the fake has no multimodal inputs")
