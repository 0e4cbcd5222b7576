"""The folder of a session, as its analyst sees it."""

from __future__ import annotations

from workbench.session.directory.upkeep import Checked
from workbench.session.parts import SessionParts, one_at_a_time


class SessionFolder(SessionParts):
    """The part of a session that looks after its folder."""

    @one_at_a_time
    def check(self, empty: bool = False) -> Checked:
        """Read all files of the session, and compare each with the checksum that was computed when it was written.

        With a damaged file the session becomes read-only, and the queries that need the file say so;
        ``Session.open(path, repair=True)`` computes anew what follows from the streams. The session does the same by
        itself, with some files after every tenth batch.

        Args:
            empty: whether to remove what opening the session has set aside, which no commit speaks of.

        Raises:
            SessionError: ``empty``, and the session is read-only.

        Example:
            >>> print(session.check())  # doctest: +SKIP
            214 files, 83.1 MB, in 0.06 s: all are whole
        """
        return self._upkeep.check(empty)
