"""Shaders and meshes of the scenes, our own. Read through importlib.resources."""
