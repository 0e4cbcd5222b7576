"""The methods of a session, by what they are about."""
