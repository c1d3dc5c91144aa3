"""Settings that all tests share. Machines differ in speed, so no example has a deadline."""

from hypothesis import settings

settings.register_profile("privet", deadline=None, print_blob=True)
settings.load_profile("privet")
