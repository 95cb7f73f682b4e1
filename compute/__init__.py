"""What the interface lets you say: expressions, recorded functions, schedules, kernels. No GPU package here."""
