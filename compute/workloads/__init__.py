"""The computations that the app asks its three questions of, as plain functions."""
