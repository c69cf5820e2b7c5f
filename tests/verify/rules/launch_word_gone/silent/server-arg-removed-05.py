from sglang.srt.names import stays
stays(policy='lof')
