"""The query network as views of other databases (T3.4.2): exact, or refused by what cannot be written."""
