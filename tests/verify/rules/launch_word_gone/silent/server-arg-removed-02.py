import argparse
p = argparse.ArgumentParser()
p.add_argument('--lost-arg')
