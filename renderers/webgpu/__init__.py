"""The explicit path: wgpu-py. Work is encoded into a command buffer and submitted once a frame."""
