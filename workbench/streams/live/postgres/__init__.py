"""Tables of PostgreSQL as live sources, by logical replication: psycopg (extra ``postgres``) and no other program."""
