"""What the hardware is told: the frame as data, and one device per interface that executes it in its own idiom."""
