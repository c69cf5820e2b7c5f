def test_plain(pool):
    pool.plain(kept=1)
