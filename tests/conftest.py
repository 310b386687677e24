"""Settings for the whole suite."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "boxwood",
    max_examples=200,
    deadline=None,  # the first call of a loop compiles it
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("boxwood")
