"""What every test of the project runs under."""

from hypothesis import settings

# No deadline: a slow machine is not a wrong answer.
settings.register_profile("harkara", deadline=None)
settings.load_profile("harkara")
