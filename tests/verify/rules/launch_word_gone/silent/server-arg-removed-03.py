CMD = ['python', 'train.py', '--lost-arg', '1']
