"""A server that speaks the native protocol and stores nothing: the known other end for a load generator's own tests."""
