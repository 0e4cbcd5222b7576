-- Example B.16 (QM_3): Anthrax soon after another case and near it
-- Anthrax admissions within 40 days of an earlier one and within 50 miles of it.
SELECT   t1.dxs_01, t2.zip, t2.adate, t2.recid
FROM     MHDCFY01A t1, MHDCFY01A t2
WHERE    t2.adate > t1.adate
  AND    t1.dxs_01 = t2.dxs_01
  AND    t1.dxs_01 >= '022'
  AND    t1.dxs_01 < '023'
  AND    t2.adate < t1.adate + 40
GROUP BY t1.dxs_01, t2.zip, t2.adate, t2.recid
HAVING   min(zipdistance(t2.zip, t1.zip)) < 50;
