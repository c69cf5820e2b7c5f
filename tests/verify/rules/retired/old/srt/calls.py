def retiring(): return 1
