-- Example B.14 (QM_1): Distinct anthrax occurrences
-- Anthrax admissions beyond 40 days from any earlier one: all that have an earlier one, minus those with one in the
-- window.
SELECT   t1.dxs_01, t2.zip, t2.adate, t2.recid
FROM     MHDCFY01A t1, MHDCFY01A t2
WHERE    t2.adate > t1.adate
  AND    t1.dxs_01 = t2.dxs_01
  AND    t1.dxs_01 >= '022'
  AND    t1.dxs_01 < '023'
GROUP BY t1.dxs_01, t2.zip, t2.adate, t2.recid
MINUS
SELECT   t1.dxs_01, t2.zip, t2.adate, t2.recid
FROM     MHDCFY01A t1, MHDCFY01A t2
WHERE    t2.adate > t1.adate
  AND    t1.dxs_01 = t2.dxs_01
  AND    t1.dxs_01 >= '022'
  AND    t1.dxs_01 < '023'
  AND    t2.adate < t1.adate + 40
GROUP BY t1.dxs_01, t2.zip, t2.adate, t2.recid;
