"""What the interface lets you say: expressions, recorded functions, schedules, kernels as values. No GPU package here."""
