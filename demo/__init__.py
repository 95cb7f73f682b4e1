"""What the person sees: a window, a headless bench, a report."""
