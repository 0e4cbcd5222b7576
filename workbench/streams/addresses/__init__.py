"""Addresses of what is outside of a session: brokers, databases, web servers, sockets."""
