class Hook: pass
