"""A running quantile in one number."""


class Quantile:
    """Follows the `p` quantile of positive values; a step is a fraction of the present estimate."""

    def __init__(self, p: float, step: float = 0.05) -> None:
        self._up, self._down = 1 + step * p, 1 - step * (1 - p)
        self.value = 0.0  # 0: nothing seen

    def add(self, value: float) -> None:
        """Move a step towards a value; the first one is the first estimate."""
        if self.value == 0.0:
            self.value = value
        else:
            self.value *= self._up if value > self.value else self._down
